/** The same command again for a bootstrap that exists: which options change, and which may not. Pure. */
import { Problem } from '../problems.js';
import {
  type BootstrapOptions,
  flagName,
  flagOf,
  type GivenOptions,
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
export type HoldersOf = (option: keyof BootstrapOptions) => readonly string[] | undefined;

export interface Resumed extends Standing {
  /** In the order of the table. Secret values are redacted. */
  readonly changes: readonly OptionChange[];
}

/**
 * The options from now on. `wanted` was resolved from `given`. A secret that isn't given again stays, unless the option that
 * it belongs to is dropped. The time to live stays, too, if it isn't given again. Throws a conflict that shows both values of
 * each option that cannot change, and what holds it.
 */
export function resumeOptions(
  stands: Standing,
  wanted: Standing,
  given: GivenOptions,
  holdersOf: HoldersOf = () => undefined,
): Resumed {
  const options = { ...wanted.options };
  if (given.projectTtl === undefined) options.projectTtl = stands.options.projectTtl;
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
      advice:
        'Give the values that stand; or remove the project first (plinth beta bootstrap-cloud cleanup); or bootstrap another one under another --project-name.',
    });
  }
  return { options, secrets, changes: changed.map(({ option, from, to }) => ({ option, from, to })) };
}

const shownHolders = 3;
function reason(holders: readonly string[]): string {
  if (holders.length === 0) return '';
  const more = holders.length - shownHolders;
  return `, as this has been made: ${holders.slice(0, shownHolders).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const text = (value: unknown): string => (value === null ? 'not set' : String(value));
