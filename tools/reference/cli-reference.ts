/** The reference page of the command line, from the flag table and the commands. */

import { loadCommands } from '../../cli/commands/index.js';
import { argumentHelp, bracketed } from '../../cli/frame/arguments.js';
import type { Command } from '../../cli/frame/command.js';
import { exitCodes } from '../../cli/frame/exit-codes.js';
import { sharedFlags } from '../../cli/frame/flags.js';
import { defaultText, typeName } from '../../cli/frame/help.js';
import { stepsOf } from '../../functions/steps/index.js';
import {
  type FlagGroup,
  flagGroups,
  flagName,
  flagOf,
  isSecret,
  type OnResume,
  type Option,
  optionNames,
  ownerOf,
  variableOf,
} from '../../shared/bootstrap/options.js';
import { type Row, rows } from '../../test/e2e/flag-effects.js';
import { kinds, writtenAs } from '../../test/e2e/odd-values.js';

const commands = await loadCommands();

const whenResumed: Readonly<Record<OnResume, string>> = {
  fixed: 'refused',
  applies: 'applied',
  local: 'stays here',
};

/** Options that may change until a step has made what depends on them. */
const held = new Set<Option>(stepsOf({ hosts: true }).flatMap(({ holds = [] }) => holds));

const cell = (text: string): string => text.replaceAll('|', '\\|');
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  `| ${head.join(' | ')} |`,
  `|${' --- |'.repeat(head.length)}`,
  ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
];

const flagTable = (flags: Command['flags'] | typeof sharedFlags): string[] =>
  flags === undefined
    ? []
    : [
        ...table(
          ['flag', 'meaning'],
          Object.entries(flags).map(([name, help]) => [`\`--${name}\``, help]),
        ),
        '',
      ];

export function cliReference(): string {
  const groups = Object.keys(flagGroups) as FlagGroup[];
  return [
    '# Command line',
    '',
    'Generated from the flag table (`shared/bootstrap/options.ts`) and the commands (`cli/commands`).',
    '',
    ...commands.flatMap((command) => [
      `## \`plinth ${command.usage}\``,
      '',
      ...command.description.flatMap((text) => [text, '']),
      ...flagTable(command.flags),
      '```',
      ...command.examples,
      '```',
      '',
    ]),
    '## Arguments',
    '',
    ...table(
      ['argument', 'meaning'],
      Object.entries(argumentHelp).map(([name, help]) => [`\`${bracketed(name)}\``, help]),
    ),
    '',
    '## Flags of the bootstrap',
    '',
    `All ${optionNames.length} of them. *Again* says what another value does when the bootstrap stands already. It is refused, or refused once something that depends on it has been made, or applied. Or it is about your machine alone and stays here.`,
    '',
    ...groups.flatMap((group) => [
      `### ${flagGroups[group]}`,
      '',
      ...table(
        ['flag', 'type', 'default', 'again', 'meaning'],
        optionNames
          .filter((option) => flagOf(option).group === group)
          .map((option) => {
            const flag = flagOf(option);
            const fallback = flag.required ? 'required' : defaultText(option);
            return [
              `${flag.short === undefined ? '' : `\`-${flag.short}\`, `}\`${flagName(option)}\``,
              typeName[flag.kind],
              fallback === undefined || flag.required ? (fallback ?? '') : `\`${fallback}\``,
              held.has(option) ? 'refused once made' : whenResumed[flag.onResume],
              `${flag.help}${isSecret(option) ? ` May come from \`${variableOf(option)}\`.` : ''}`,
            ];
          }),
      ),
      '',
    ]),
    '## What each flag changes, and what dropping it does',
    '',
    'What a flag takes, byte for byte; where its effect is seen; and what the same command does without it while the bootstrap stands. What another value does then stands above, under *again*. Tests play each row, and fail where it is not so.',
    '',
    ...table(
      ['flag', 'takes', 'seen in', 'dropped'],
      optionNames.map((option) => effectOf(option, rows[option])),
    ),
    '',
    '## Flags of all commands',
    '',
    ...flagTable(sharedFlags),
    '## How values are written',
    '',
    '`--flag value`, `--flag=value`, `-s value`, `-svalue` and `-s=value` are the same. A value may begin with `-`, but a known flag in its place is a missing value; `--flag=--other` forces it. Commas are part of a value: a `stringArray` flag is repeated, and an empty value alone leaves none of its defaults. A bool is `--flag`, `--no-flag`, or `--flag=` with one of `true`, `1`, `t`, `false`, `0`, `f`. A secret may come from its environment variable; a flag wins over it.',
    '',
    '## Endpoint and token',
    '',
    'The endpoint is the first of `--endpoint`, `PLINTH_ENDPOINT`, and `endpoints.bootstraps`, for organizations and teams `endpoints.api`, in `$XDG_CONFIG_HOME/plinth/config.yaml` (by default `~/.config/plinth/config.yaml`), which `plinth configure` writes. The token is `PLINTH_TOKEN`, else that of `plinth login`, else an ID token of the service account of Application Default Credentials, renewed as it runs out. Credentials of a federated identity (`external_account`) give one of the service account that they or `PLINTH_SERVICE_ACCOUNT` name ([builds without a key](../use/company-network.md#without-a-key-in-a-build)); `PLINTH_ENDPOINT_IAMCREDENTIALS` is where IAM Credentials is, if not at Google. `plinth doctor` says what of this is in order, and what to do about the rest.',
    '',
    'HTTP goes through the proxy that `HTTPS_PROXY` or `HTTP_PROXY` names, but not to what `NO_PROXY` names, nor to this computer ([the network of a company](../use/company-network.md)).',
    '',
    'Every reply names the version of the service (`plinth-version`). A command line of another version works as long as it can read the answers; where it cannot, it says so (`versions-differ`), and which side to bring up to date.',
    '',
    '## Output',
    '',
    'Results are on stdout, progress, warnings and errors on stderr. On a terminal there is a line for each running instance and a bar over all; in a pipe plain lines, without colour; `NO_COLOR` takes colour away everywhere. With `--json` stdout holds one event a line, and a last line `{"type":"result","exitCode":…}` with what stands, or with a `problem`.',
    '',
    'Ctrl-C detaches: the bootstrap goes on, and the command says how to follow or cancel it.',
    '',
    '## Files',
    '',
    '`config.yaml` and `prod.vault.yaml` (encrypted, 0600) are written into the folder, for a second datacenter `config-dc2.yaml` and `prod-dc2.vault.yaml`; the age identity that opens them (0600) goes to `$XDG_CONFIG_HOME/plinth/age/<bootstrap>.txt`. Files that stand are the base of a re-run of the same bootstrap and are rewritten only if their content differs. Files of another bootstrap are moved aside (`config.<project>.yaml`) and never sent. Every place that a run will write to is tried before anything is created: these files, the age identity, a new SSH key and the test user. `--plan` is tried in the same way.',
    '',
    'Without a given key the SSH public key is `~/.ssh/id_rsa.pub`, else `~/.ssh/id_ed25519.pub`, else the first one that ssh-agent holds, else an Ed25519 pair that plinth makes in `$XDG_CONFIG_HOME/plinth/ssh`. Its private half, for `ssh`, uploads and `--recover-config`, lies beside it or is in ssh-agent; a passphrase is asked for on a terminal. Where `PLINTH_SSH_PROXY` names an HTTP CONNECT proxy (`http://host:port`), machines are reached through it.',
    '',
    'Machines without a public address are reached through IAP, with a Google access token: `PLINTH_ACCESS_TOKEN`, else that of gcloud, else that of Application Default Credentials. If `GOOGLE_APPLICATION_CREDENTIALS` is set, these come before gcloud. `PLINTH_IAP_TUNNEL_URL` is where the tunnel is (`wss://tunnel.cloudproxy.app/v4`).',
    '',
    '`--recover-config` keeps what stood as `<file>.<time>.bak`. What is recovered wins: a given value that differs is named, and not applied. `notApplied` of the result lists these flags.',
    '',
    '## Exit codes',
    '',
    ...table(
      ['code', 'meaning'],
      exitCodes.map(({ code, meaning }) => [String(code), meaning]),
    ),
    '',
  ].join('\n');
}

const whenDropped = {
  gone: 'its effect goes',
  refused: 'refused, with both values',
  required: 'refused: it is required',
  'this run': 'it was for that run alone',
} as const;

function effectOf(option: Option, row: Row): string[] {
  const { dropped } = row;
  const owner = isSecret(option) ? ownerOf(option) : undefined;
  const ofInstall =
    dropped === 'gone' && flagOf(option).ofInstall === true
      ? '; stays with what is installed if no package is named'
      : '';
  const alone = typeof dropped === 'string' ? whenDropped[dropped] : `stays: ${dropped.stays}`;
  const told = owner === undefined ? alone + ofInstall : `goes with \`${flagName(owner)}\``;
  return [`\`${flagName(option)}\``, kinds[writtenAs[option]].told, row.where, told];
}
