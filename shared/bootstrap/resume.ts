/** The same command again for a bootstrap that exists: which options change, and which may not. Pure. */
import { shellWord } from '../command-words.js';
import { Problem } from '../problems.js';
import { installFlags } from './option-rules.js';
import {
  type BootstrapOptions,
  flagName,
  flagOf,
  type GivenOptions,
  installOptions,
  isLocal,
  isSecret,
  type Option,
  optionNames,
  ownerOf,
  redacted,
  type SecretOption,
  type SecretOptions,
} from './options.js';

export interface OptionChange {
  /** The flag: `--project-ttl`. */
  readonly option: string;
  readonly from: unknown;
  readonly to: unknown;
}

export interface Standing {
  readonly options: BootstrapOptions;
  readonly secrets: SecretOptions;
}

/**
 * In words, what exists (or may exist) and holds a fixed option to its value. Empty: the option may change. Undefined: it
 * never may.
 */
type HoldersOf = (option: keyof BootstrapOptions) => readonly string[] | undefined;

export interface Resumed extends Standing {
  /** In the order of the table. Secret values are redacted. */
  readonly changes: readonly OptionChange[];
}

/** What exists and holds options to their values. */
export interface Existing {
  readonly holdersOf: HoldersOf;
  /** Something is installed, or may be. */
  readonly isInstalled: boolean;
}

/** Options that stay as they are, because they aren't given again. */
export function keptOptions(given: GivenOptions, isInstalled: boolean): readonly Option[] {
  const isGiven = (option: Option) => given[option as keyof GivenOptions] !== undefined;
  const ofInstall = isInstalled && !installFlags.some(isGiven) ? installOptions : [];
  return (['projectTtl', ...ofInstall] as const).filter((option) => !isGiven(option));
}

/**
 * The options from now on. `wanted` was resolved from `given`. A secret that isn't given again stays, unless the option that
 * it belongs to is dropped. So does the time to live, and what is installed where no package is given. Throws a conflict that
 * shows both values of each option that cannot change, and what holds it.
 */
export function resumeOptions(
  stands: Standing,
  wanted: Standing,
  given: GivenOptions,
  { holdersOf, isInstalled }: Existing = { holdersOf: () => undefined, isInstalled: false },
): Resumed {
  const options: BootstrapOptions = { ...wanted.options, ...pickKept(stands.options, keptOptions(given, isInstalled)) };
  const before: GivenOptions = { ...stands.options, ...stands.secrets };
  const isDropped = (option: Option | undefined): boolean =>
    option !== undefined && before[option as keyof GivenOptions] !== undefined && !(option in options);
  const kept = Object.entries(stands.secrets).filter(([secret]) => !isDropped(ownerOf(secret as SecretOption)));
  const secrets: SecretOptions = { ...Object.fromEntries(kept), ...wanted.secrets };

  const after: GivenOptions = { ...options, ...secrets };
  const changed = optionNames.flatMap((option) => {
    if (isLocal(option) || same(before[option], after[option])) return [];
    const shown = (value: unknown) => (value !== undefined && isSecret(option) ? redacted : (value ?? null));
    const isFixed = flagOf(option).onResume === 'fixed';
    const holders = isFixed ? holdersOf(option as keyof BootstrapOptions) : [];
    return [{ holders, option: flagName(option), from: shown(before[option]), to: shown(after[option]) }];
  });
  const refused = changed.filter(({ holders }) => holders === undefined || holders.length > 0);
  if (refused.length > 0) {
    const errors = refused.map(({ option, from, to, holders = [] }) => ({
      path: option,
      message: `is ${text(from)} and cannot become ${text(to)}${reason(holders)}`,
    }));
    throw new Problem('conflict', errors.map(({ path, message }) => `${path} ${message}`).join('; '), {
      errors,
      advice: `Give the values that stand; or remove the project first: plinth beta bootstrap-cloud cleanup ${shellWord(stands.options.projectName)}; or bootstrap another one under another --project-name.`,
    });
  }
  return { options, secrets, changes: changed.map(({ option, from, to }) => ({ option, from, to })) };
}

const pickKept = (stands: BootstrapOptions, kept: readonly Option[]): Partial<BootstrapOptions> =>
  Object.fromEntries(Object.entries(stands).filter(([option]) => kept.includes(option as Option)));

const shownHolders = 3;
function reason(holders: readonly string[]): string {
  if (holders.length === 0) return '';
  const more = holders.length - shownHolders;
  return `, as this has been made: ${holders.slice(0, shownHolders).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const text = (value: unknown): string => (value === null ? 'not set' : String(value));
