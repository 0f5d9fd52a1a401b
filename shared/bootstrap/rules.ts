/**
 * Resolves a set of given options, and reports everything wrong with it at once. Pure. It refuses what cannot work and warns
 * about the rest.
 */
import { type Fault, Problem } from '../problems.js';
import { type Facts, installFlags, rules, type Values } from './option-rules.js';
import {
  type BootstrapOptions,
  flagName,
  flagOf,
  type GivenFlags,
  isLocal,
  isSecret,
  type LocalOptions,
  type Option,
  optionNames,
  type SecretOptions,
} from './options.js';
import { firstZoneOf, regionOf } from './places.js';

export interface CheckedOptions {
  /** Use this and the next two only if there are no faults. */
  readonly options: BootstrapOptions;
  readonly local: LocalOptions;
  readonly secrets: SecretOptions;
  readonly faults: readonly Fault[];
  readonly warnings: readonly string[];
  /** For people: values that follow from others, such as a zone from its region. */
  readonly notes: readonly string[];
}

// A stored record's options are resolved each time that it is read, so what does not depend on them is worked out once.
const defaults = Object.fromEntries(optionNames.map((option) => [option, flagOf(option).default]));
const locals = optionNames.filter(isLocal);
const secrets = optionNames.filter(isSecret);
const open = optionNames.filter((option) => !isLocal(option) && !isSecret(option));

const pick = (values: Values, options: readonly Option[]) =>
  Object.fromEntries(
    options.flatMap((option) => (values[option] === undefined ? [] : [[option, values[option]] as const])),
  );
const openIn = (values: Values): BootstrapOptions => pick(values, open) as unknown as BootstrapOptions;

/** `strict`: warnings become refusals. */
export function checkOptions(given: GivenFlags, how: { readonly strict?: boolean | undefined } = {}): CheckedOptions {
  const faults: Fault[] = [];
  const warnings: string[] = [];
  const found: Partial<Record<Option, unknown>> = {};
  const has = (option: Option) => given[option] !== undefined && given[option] !== '';

  for (const option of optionNames) {
    const value = given[option];
    // An empty value of a required flag counts as missing.
    if (value === undefined || (value === '' && flagOf(option).required)) continue;
    const read = flagOf(option).schema.safeParse(value);
    if (read.success) found[option] = read.data;
    else faults.push({ path: flagName(option), message: said(option, value, read.error.issues[0]?.message) });
  }

  const { values, notes } = resolve(found as GivenFlags);
  const isRight = (option: Option) => has(option) && found[option] !== undefined;
  const facts: Facts = { values, has, isRight, installs: installFlags.some(has) };
  for (const rule of rules) {
    if (!rule.when(facts)) continue;
    const message = typeof rule.message === 'string' ? rule.message : rule.message(facts);
    const fault = { path: flagName(rule.option), message };
    if (rule.does === 'refuse' || how.strict === true) faults.push(fault);
    else warnings.push(`${fault.path} ${fault.message}`);
  }

  return {
    options: openIn(values),
    local: pick(values, locals) as unknown as LocalOptions,
    secrets: pick(values, secrets) as SecretOptions,
    faults,
    warnings,
    notes,
  };
}

/** Resolves stored options. The release that stored them may have known fewer flags, or more. */
export const fillOptions = (stored: Readonly<Record<string, unknown>>): BootstrapOptions =>
  openIn(resolve(stored as GivenFlags).values);

/** One problem for all faults. */
export function refusalOf(errors: readonly Fault[]): Problem {
  return new Problem('bad-input', errors.map(({ path, message }) => `${path} ${message}`).join('; '), {
    errors,
    advice: 'Correct what is named and run the command again.',
  });
}

/** Applies defaults, and sets options that follow from others. */
function resolve(found: GivenFlags): { values: Values; notes: string[] } {
  const notes: string[] = [];
  const follows: { -readonly [K in keyof GivenFlags]: GivenFlags[K] } = {};
  if (found.region !== undefined && found.zone === undefined) {
    follows.zone = firstZoneOf(found.region);
    notes.push(`--zone ${follows.zone} follows from --region ${found.region}`);
  }
  if (found.zone !== undefined && found.region === undefined) {
    follows.region = regionOf(found.zone);
    notes.push(`--region ${follows.region} follows from --zone ${found.zone}`);
  }
  if (found.airgapped === true && found.registryType === undefined) {
    follows.registryType = 'local-container';
    notes.push('--registry-type local-container follows from --airgapped');
  }
  return { values: { ...defaults, ...found, ...follows } as Values, notes };
}

/** A message with the offending value, unless the value is secret. */
function said(option: Option, value: unknown, message = 'is not valid'): string {
  if (isSecret(option) || value === '') return message;
  const shown = JSON.stringify(value);
  return `${message}, not ${shown.length > 80 ? `${shown.slice(0, 80)}…` : shown}`;
}
