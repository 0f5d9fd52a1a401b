/**
 * The same command again, over a bootstrap that stands: which options change, and which may not. Pure; called where a
 * bootstrap is begun or resumed.
 */
import { Problem } from '../problems.js';
import {
  type BootstrapOptions,
  flagName,
  flagOf,
  type GivenOptions,
  isLocal,
  isSecret,
  optionNames,
  redacted,
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

export interface Resumed extends Standing {
  /** In the order of the table; values of secrets are masked. */
  readonly changes: readonly OptionChange[];
}

/**
 * What holds from now on. `wanted` is resolved, `given` is what it was resolved from. A secret that is not given again
 * stays, and so does the time to live. Throws a conflict that shows both values of each option that cannot change.
 */
export function resumeOptions(stands: Standing, wanted: Standing, given: GivenOptions): Resumed {
  const options = { ...wanted.options };
  if (given.projectTtl === undefined) options.projectTtl = stands.options.projectTtl;
  const secrets = { ...stands.secrets, ...wanted.secrets };

  const before: GivenOptions = { ...stands.options, ...stands.secrets };
  const after: GivenOptions = { ...options, ...secrets };
  const changed = optionNames.flatMap((option) => {
    // Records of releases that did not know an option have nothing of it; its default is no change.
    const fallback = flagOf(option).default;
    if (isLocal(option) || same(before[option] ?? fallback, after[option] ?? fallback)) return [];
    const shown = (value: unknown) => (value !== undefined && isSecret(option) ? redacted : (value ?? null));
    return [{ row: flagOf(option), option: flagName(option), from: shown(before[option]), to: shown(after[option]) }];
  });
  const refused = changed.filter(({ row }) => row.onResume === 'fixed');
  if (refused.length > 0) {
    const errors = refused.map(({ option, from, to }) => ({
      path: option,
      message: `is ${text(from)} and cannot become ${text(to)}`,
    }));
    throw new Problem('conflict', errors.map(({ path, message }) => `${path} ${message}`).join('; '), {
      errors,
      advice:
        'Give the values that stand; or remove the project first (plinth beta bootstrap-cloud cleanup); or bootstrap another one under another --project-name.',
    });
  }
  return { options, secrets, changes: changed.map(({ option, from, to }) => ({ option, from, to })) };
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const text = (value: unknown): string => (value === null ? 'not set' : String(value));
