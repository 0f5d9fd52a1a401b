/** `plinth configure`: asks where the service is and how people log in, and writes the config file. */
import { refusalOf } from '../../shared/bootstrap/rules.js';
import { type Fault, Problem } from '../../shared/problems.js';
import { changeLines, changesBetween } from '../files/config-changes.js';
import { validate, whyBad } from '../files/config-check.js';
import {
  type ConfigName,
  type ConfigValues,
  configIn,
  configPath,
  readConfig,
  writeConfig,
} from '../files/config-file.js';
import { placeOf, reason } from '../files/files.js';
import { readSecretText, registerText } from '../files/secret-text.js';
import { type CommandContext, defineCommand } from '../frame/command.js';
import { ask, canAsk } from '../frame/confirm.js';
import type { FlagOfKind } from '../frame/flags.js';
import { printable } from '../frame/output.js';
import { askPassphrase } from '../identity/passphrase.js';

const flagOf = {
  'endpoints.bootstraps': 'bootstraps-endpoint',
  'endpoints.api': 'api-endpoint',
  'oauth.issuer': 'issuer',
  'oauth.clientId': 'client-id',
} as const satisfies Partial<Record<ConfigName, FlagOfKind<'string'>>>;

export const configure = defineCommand({
  description: [
    "Writes config.yaml in plinth's config folder, for you alone. On a terminal it asks, with the present values as defaults. In a script it takes the flags, and keeps what no flag names.",
    'Before it writes anything, it checks that the endpoints and the token issuer answer as they should. A value of - removes a setting.',
    'It asks for the secret of the OAuth client without showing it, or takes it from PLINTH_OAUTH_CLIENT_SECRET. No flag takes it. plinth doctor checks the rest.',
  ],
  flags: {
    'bootstraps-endpoint': 'URL of the bootstrap API.',
    'api-endpoint': 'URL of the API of organizations and teams.',
    'client-id': 'OAuth client by which people log in.',
    issuer: 'Issuer of their tokens. (default: https://accounts.google.com)',
    from: 'Take all from this config file, such as terraform prints one. - reads standard input.',
    force: 'Write it even if the service does not answer as it should.',
  },
  examples: [
    'plinth configure',
    'plinth configure --bootstraps-endpoint https://bootstraps.example.com --api-endpoint https://api.example.com',
    'terraform output -raw config_yaml | plinth configure --from -',
  ],

  async run(call) {
    const { settings, output, faults: given } = call;
    const file = configPath(settings.configFolder);
    const standing = await readConfig(settings);
    const told = await toldBy(call);
    const faults: Fault[] = [...given];
    for (const { name, path, text } of told) {
      const message = text === '-' ? undefined : whyBad(name, text);
      if (message !== undefined) faults.push({ path, message });
    }
    if (told.length === 0 && faults.length === 0 && !canAsk(call.io)) {
      faults.push({ path: '--bootstraps-endpoint, --api-endpoint, --client-id or --from', message: 'is needed' });
    }
    if (faults.length > 0) {
      throw refusalOf(faults);
    }
    const wanted = told.length > 0 ? merged(standing, told) : await askForConfig(standing, call, whyBad);

    const { checks, failed } = await validate(wanted, call);
    for (const { text } of checks) output.say(text);
    if (failed !== undefined && !call.has('force')) throw failed;
    if (failed !== undefined) output.warn(`${failed.detail} Written all the same.`);

    const changes = changesBetween(standing, wanted);
    if (changes.length > 0) await writeConfig(settings, wanted);
    return {
      data: { file, changes },
      show: (style) =>
        changes.length === 0
          ? `${file} stands as it is; nothing changes.`
          : [...changeLines(changes, style), `Written to ${file}. Next: plinth login, then plinth doctor.`].join('\n'),
    };
  },
});

interface Told {
  readonly name: ConfigName;
  /** The flag, file or variable that holds the value. */
  readonly path: string;
  readonly text: string;
}

async function toldBy(call: CommandContext): Promise<Told[]> {
  const from = call.word('from')?.text;
  const flagged = Object.entries(flagOf).flatMap(([name, flag]) => {
    const word = call.word(flag);
    return word === undefined ? [] : [{ name: name as ConfigName, path: word.path, text: word.text.trim() }];
  });
  const values = from === undefined ? {} : await contentOf(from, call);
  const filed = Object.entries(values)
    .filter(([name]) => !flagged.some((each) => each.name === name))
    .map(([name, text]) => ({
      name: name as ConfigName,
      path: `${name} in ${from === '-' ? 'what was read' : from}`,
      text,
    }));
  if (flagged.length === 0 && filed.length === 0) return [];
  const secret = call.settings.env['PLINTH_OAUTH_CLIENT_SECRET'];
  const beside = secret && !filed.some(({ name }) => name === 'oauth.clientSecret');
  return [
    ...filed,
    ...flagged,
    ...(beside ? [{ name: 'oauth.clientSecret' as const, path: 'PLINTH_OAUTH_CLIENT_SECRET', text: secret }] : []),
  ];
}

async function contentOf(from: string, { io, settings }: CommandContext): Promise<ConfigValues> {
  let text: string;
  try {
    text =
      from === '-'
        ? registerText(io.readStdin(), 'config file', settings)
        : readSecretText(placeOf(from, settings), 'config file', settings);
  } catch (error) {
    throw new Problem('bad-input', `${from} cannot be read: ${reason(error)}.`, {
      errors: [{ path: '--from', message: `${from}: ${reason(error)}` }],
    });
  }
  const values = await configIn(text, from === '-' ? 'What was read' : from, settings);
  if (Object.keys(values).length > 0) return values;
  throw new Problem('bad-input', `${from === '-' ? 'What was read' : from} says nothing.`, {
    errors: [{ path: '--from', message: 'holds no setting' }],
  });
}

function merged(standing: ConfigValues, told: readonly Told[]): ConfigValues {
  const all = new Map(Object.entries(standing));
  for (const { name, text } of told) {
    if (text === '-') all.delete(name);
    else all.set(name, text);
  }
  return Object.fromEntries(all);
}

const questions: readonly (readonly [ConfigName, string])[] = [
  ['endpoints.bootstraps', 'URL of the bootstrap API'],
  ['endpoints.api', 'URL of the API of organizations and teams'],
  ['oauth.clientId', 'OAuth client by which people log in'],
  ['oauth.clientSecret', "The client's secret (not shown)"],
];

/** Asks for each setting on the terminal. Enter keeps the present value, - removes it. */
async function askForConfig(
  standing: ConfigValues,
  call: CommandContext,
  whyBad: (name: ConfigName, value: string) => string | undefined,
): Promise<ConfigValues> {
  const { output } = call;
  output.say('Enter keeps what stands in brackets, - takes it away.');
  const values = new Map(Object.entries(standing));
  for (const [name, question] of questions) {
    if (name === 'oauth.clientSecret' && !values.has('oauth.clientId')) continue;
    for (;;) {
      const text = await answerTo(name, question, standing[name], call);
      const why = text === '' || text === '-' ? undefined : whyBad(name, text);
      if (why !== undefined) {
        output.say(`It ${why}.`);
        continue;
      }
      if (text === '-') values.delete(name);
      else if (text !== '') values.set(name, text);
      break;
    }
  }
  return Object.fromEntries(values);
}

async function answerTo(name: ConfigName, question: string, standing: string | undefined, call: CommandContext) {
  const kept = standing === undefined ? 'none' : printable(standing);
  if (name !== 'oauth.clientSecret') {
    const text = (await ask(`${question} [${kept}]:`, call)).trim();
    call.interrupted.throwIfAborted();
    return text;
  }
  const typed = await askPassphrase(`${question} [${standing === undefined ? 'none' : 'kept'}]: `, call.io);
  if (typed === undefined) throw new Problem('interrupted', 'Interrupted.', { advice: 'Nothing was written.' });
  return typed.trim();
}
