/** The flags of the command line: those of the flag table, and plinth's own that say how a command is run. */
import {
  flagName,
  flagOf,
  type GivenFlags,
  isSecret,
  type Option,
  optionNames,
  type SecretOption,
  variableOf,
} from '../../shared/bootstrap/options.js';
import type { Argv, ArgvFlag, ArgvValue, FlagKind } from './argv.js';

/** Not in the flag table: they are about the conversation with plinth, not about what is bootstrapped. */
const ownFlags = {
  'dry-run': { kind: 'bool' },
  package: { kind: 'string' },
  'age-key': { kind: 'string' },
  'state-dir': { kind: 'string' },
  root: { kind: 'string' },
  user: { kind: 'string' },
  strict: { kind: 'bool' },
  follow: { kind: 'bool' },
  all: { kind: 'bool' },
  role: { kind: 'string' },
  organization: { kind: 'string' },
  limit: { kind: 'int' },
  force: { kind: 'bool' },
  yes: { kind: 'bool' },
  ttl: { kind: 'string' },
  until: { kind: 'string' },
  reason: { kind: 'string' },
  with: { kind: 'string' },
  remove: { kind: 'bool' },
  'print-config': { kind: 'bool' },
  name: { kind: 'string' },
  'bootstraps-endpoint': { kind: 'string' },
  'api-endpoint': { kind: 'string' },
  'client-id': { kind: 'string' },
  issuer: { kind: 'string' },
  from: { kind: 'string' },
  endpoint: { kind: 'string' },
  json: { kind: 'bool' },
  version: { kind: 'bool' },
} as const satisfies Record<string, ArgvFlag>;
export type OwnFlagName = keyof typeof ownFlags;

/** Those that belong to no command; what they mean is the same everywhere. */
export const sharedFlags = {
  endpoint: 'URL of the plinth service. Or set PLINTH_ENDPOINT, or use the config file.',
  json: 'Print one JSON event a line, and a last one of type "result".',
  version: "Print plinth's version.",
} as const satisfies Partial<Record<OwnFlagName, string>>;
/** Those that a command takes if it says so, and says what they mean there. */
export type CommandFlag = Exclude<OwnFlagName, keyof typeof sharedFlags>;
export type FlagOfKind<K extends FlagKind> = {
  [N in CommandFlag]: (typeof ownFlags)[N]['kind'] extends K ? N : never;
}[CommandFlag];

/** Those that every command takes, before or after its words. */
export const commonFlags = ['endpoint', 'json'] as const satisfies readonly OwnFlagName[];
/** Of the flag table, those that every command takes. */
export const inheritedOptions = ['verbose', 'help'] as const satisfies readonly Option[];

const bare = (option: Option) => flagName(option).slice(2);
const optionsByName: ReadonlyMap<string, Option> = new Map(optionNames.map((option) => [bare(option), option]));

/** The option of the flag table that a flag stands for, by its name without dashes. */
export const optionOf = (name: string): Option | undefined => optionsByName.get(name);

/** All flags there are: a name means the same in every command. */
export const allFlags: Readonly<Record<string, ArgvFlag>> = {
  ...Object.fromEntries(
    optionNames.map((option) => [bare(option), { kind: flagOf(option).kind, short: flagOf(option).short }]),
  ),
  ...ownFlags,
};

/** `--preview-flags ''`: an argument can say in no other way that a list is to be empty. Of files it is a slip. */
const isCleared = (option: Option, value: ArgvValue): boolean =>
  Array.isArray(value) && value.length === 1 && value[0] === '' && flagOf(option).file !== true;

/** What was given of the flag table, on the command line or, for secrets, in the environment. */
export function givenFlags(argv: Argv, env: Readonly<Record<string, string | undefined>>): GivenFlags {
  const given: Partial<Record<Option, unknown>> = {};
  for (const option of optionNames.filter(isSecret)) {
    const value = env[variableOf(option as SecretOption)];
    if (value !== undefined && value !== '') given[option] = value;
  }
  for (const [name, value] of argv.values) {
    const option = optionsByName.get(name);
    if (option !== undefined) given[option] = isCleared(option, value) ? [] : value;
  }
  return given as GivenFlags;
}

export const ownFlag = (argv: Argv, name: OwnFlagName): boolean => argv.values.get(name) === true;
