/** The flags of the command line: those of the flag table, and plinth's own flags that say how a command runs. */
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

/** Not in the flag table, because they concern the dialogue with plinth and not what is bootstrapped. */
const ownFlags = {
  'dry-run': { kind: 'bool' },
  check: { kind: 'bool' },
  deployment: { kind: 'bool' },
  package: { kind: 'string' },
  'age-key': { kind: 'string' },
  'state-dir': { kind: 'string' },
  root: { kind: 'string' },
  user: { kind: 'string' },
  strict: { kind: 'bool' },
  'max-cost': { kind: 'string' },
  plan: { kind: 'string' },
  by: { kind: 'string' },
  csv: { kind: 'bool' },
  apply: { kind: 'string' },
  follow: { kind: 'bool' },
  wait: { kind: 'bool' },
  schema: { kind: 'bool' },
  all: { kind: 'bool' },
  role: { kind: 'string' },
  team: { kind: 'string' },
  'with-team': { kind: 'string' },
  'without-team': { kind: 'bool' },
  living: { kind: 'string' },
  'usd-per-month': { kind: 'string' },
  organization: { kind: 'string' },
  limit: { kind: 'int' },
  actor: { kind: 'string' },
  why: { kind: 'string' },
  action: { kind: 'string' },
  member: { kind: 'string' },
  since: { kind: 'string' },
  event: { kind: 'string' },
  'json-lines': { kind: 'bool' },
  force: { kind: 'bool' },
  deleted: { kind: 'bool' },
  file: { kind: 'string' },
  yes: { kind: 'bool' },
  ttl: { kind: 'string' },
  until: { kind: 'string' },
  reason: { kind: 'string' },
  with: { kind: 'string' },
  remove: { kind: 'bool' },
  'print-config': { kind: 'bool' },
  name: { kind: 'string' },
  iap: { kind: 'string' },
  'bootstraps-endpoint': { kind: 'string' },
  'api-endpoint': { kind: 'string' },
  'client-id': { kind: 'string' },
  issuer: { kind: 'string' },
  from: { kind: 'string' },
  to: { kind: 'string' },
  endpoint: { kind: 'string' },
  json: { kind: 'bool' },
  version: { kind: 'bool', short: 'v' },
} as const satisfies Record<string, ArgvFlag>;
export type OwnFlagName = keyof typeof ownFlags;

/** These flags belong to no command, and mean the same everywhere. */
export const sharedFlags = {
  endpoint: 'URL of the plinth service. Or set PLINTH_ENDPOINT, or use the config file.',
  json: 'Print one JSON event a line, and a last one of type "result".',
  version: "Print plinth's version.",
} as const satisfies Partial<Record<OwnFlagName, string>>;
/** A command lists the ones that it takes, and explains them there. */
export type CommandFlag = Exclude<OwnFlagName, keyof typeof sharedFlags>;
export type FlagOfKind<K extends FlagKind> = {
  [N in CommandFlag]: (typeof ownFlags)[N]['kind'] extends K ? N : never;
}[CommandFlag];

/** Every command takes these, before or after its words. */
export const commonFlags = ['endpoint', 'json'] as const satisfies readonly OwnFlagName[];
/** Options of the flag table that every command takes. */
export const inheritedOptions = ['verbose', 'help'] as const satisfies readonly Option[];

export const bareName = (option: Option) => flagName(option).slice(2);
const optionsByName: ReadonlyMap<string, Option> = new Map(optionNames.map((option) => [bareName(option), option]));

/** The option of the flag table that belongs to a flag, by the flag's name without dashes. */
export const optionOf = (name: string): Option | undefined => optionsByName.get(name);

/** All flags. A name means the same in every command. */
export const allFlags: Readonly<Record<string, ArgvFlag>> = {
  ...Object.fromEntries(
    optionNames.map((option) => [bareName(option), { kind: flagOf(option).kind, short: flagOf(option).short }]),
  ),
  ...ownFlags,
};

/** `--preview-flags ''`: an argument has no other way to make a list empty. For files an empty value is a mistake. */
const isCleared = (option: Option, value: ArgvValue): boolean =>
  Array.isArray(value) && value.length === 1 && value[0] === '' && flagOf(option).file !== true;

/** Editors and commands end a text with a line break, which is no part of a secret. */
export const withoutLineBreak = <T extends string | undefined>(value: T) => value?.replace(/\r?\n$/, '') as T;

/** The given options of the flag table, from the command line or, for secrets, from the environment. */
export function givenFlags(argv: Argv, env: Readonly<Record<string, string | undefined>>): GivenFlags {
  const given: Partial<Record<Option, unknown>> = {};
  for (const option of optionNames.filter(isSecret)) {
    const value = withoutLineBreak(env[variableOf(option as SecretOption)]);
    if (value !== undefined && value !== '') given[option] = value;
  }
  for (const [name, value] of argv.values) {
    const option = optionsByName.get(name);
    if (option !== undefined) given[option] = isCleared(option, value) ? [] : value;
  }
  return given as GivenFlags;
}

export const ownFlag = (argv: Argv, name: OwnFlagName): boolean => argv.values.get(name) === true;
