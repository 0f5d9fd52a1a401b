/**
 * Reads values from the command line as they were written: byte for byte, always text. It reports every fault at once. cac
 * matches commands, but it would turn `0123` into 123, so it never sees a value.
 */
import { parseArgs } from 'node:util';
import { nearest } from '../../shared/nearest.js';
import type { Fault } from '../../shared/problems.js';

export type FlagKind = 'string' | 'int' | 'bool' | 'list';
export interface ArgvFlag {
  readonly kind: FlagKind;
  readonly short?: string | undefined;
}
/** By the flag's name without dashes. */
export type ArgvFlags = Readonly<Record<string, ArgvFlag>>;

export type ArgvValue = string | number | boolean | readonly string[];

export interface Argv {
  /** In order, everything that is neither a flag nor a flag's value. */
  readonly words: readonly string[];
  /** How many words come before `--`. Undefined without `--`. */
  readonly separatedAt: number | undefined;
  /** By the position of a word: the yes-or-no flag directly before it. The word may have been meant as its value. */
  readonly afterBool: ReadonlyMap<number, string>;
  /** By the flag's name without dashes. If a flag was repeated, the last value counts. A list holds all of them. */
  readonly values: ReadonlyMap<string, ArgvValue>;
  /** All flags that were written, even those with a fault. */
  readonly written: readonly string[];
  readonly faults: readonly Fault[];
}

const yes = ['true', '1', 't'];
const no = ['false', '0', 'f'];

export function readArgv(args: readonly string[], flags: ArgvFlags): Argv {
  const reading: Reading = {
    known: new Map(Object.entries(flags)),
    words: [],
    separatedAt: undefined,
    afterBool: new Map(),
    values: new Map(),
    written: [],
    faults: [],
    afterUnknown: -1,
  };
  read(reading, args, 0);
  const { words, separatedAt, afterBool, values, written, faults } = reading;
  return { words, separatedAt, afterBool, values, written, faults };
}

/** What was read so far. */
interface Reading {
  readonly known: ReadonlyMap<string, ArgvFlag>;
  readonly words: string[];
  separatedAt: number | undefined;
  readonly afterBool: Map<number, string>;
  readonly values: Map<string, ArgvValue>;
  readonly written: string[];
  readonly faults: Fault[];
  /** The kind of an unknown flag is unknown too. If a word is at this position, it counts as the flag's value. */
  afterUnknown: number;
}

const optionsOf = (known: Reading['known']) =>
  Object.fromEntries(
    [...known].map(([name, { kind, short }]) => [
      name,
      { type: kind === 'bool' ? ('boolean' as const) : ('string' as const), ...(short !== undefined && { short }) },
    ]),
  );

const tokensOf = (args: readonly string[], known: Reading['known']) =>
  parseArgs({ args: [...args], options: optionsOf(known), strict: false, allowPositionals: true, tokens: true }).tokens;

type Option = Extract<ReturnType<typeof tokensOf>[number], { kind: 'option' }>;

/** `offset`: the position of `rest` among all arguments. */
function read(reading: Reading, rest: readonly string[], offset: number): void {
  const { known, words, written } = reading;
  const tokens = tokensOf(rest, known);
  for (const [at, token] of tokens.entries()) {
    if (token.kind === 'option-terminator') {
      reading.separatedAt = words.length;
      continue;
    }
    if (token.kind === 'positional') {
      if (offset + token.index === reading.afterUnknown) continue;
      const before = tokens[at - 1];
      if (before?.kind === 'option' && known.get(before.name)?.kind === 'bool')
        reading.afterBool.set(words.length, before.name);
      words.push(token.value);
      continue;
    }
    const { name, rawName, value, index, inlineValue } = token;
    const flag = known.get(name);
    if (flag === undefined) {
      readUnknown(reading, token, offset);
      continue;
    }
    written.push(name);
    if (flag.kind === 'bool') {
      set(reading, name, 'bool', value ?? 'true');
    } else if (value === undefined || (!inlineValue && isFlag(known, value))) {
      fault(reading, `--${name}`, 'value missing');
      // What is in the value's place is a flag, and is read as one.
      if (value === undefined) continue;
      read(reading, rest.slice(index + 1), offset + index + 1);
      return;
    } else {
      // For `-s=x` the value arrives as `=x`.
      set(reading, name, flag.kind, inlineValue && !rawName.startsWith('--') ? value.replace(/^=/, '') : value);
    }
  }
}

/** Handles `--no-` before a yes-or-no flag, and unknown flags. */
function readUnknown(reading: Reading, { name, rawName, value, index }: Option, offset: number): void {
  const { known, values, written } = reading;
  const negated = name.startsWith('no-') ? known.get(name.slice(3)) : undefined;
  if (negated?.kind === 'bool') {
    written.push(name.slice(3));
    if (value === undefined) values.set(name.slice(3), false);
    else fault(reading, rawName, 'takes no value');
    return;
  }
  const meant = rawName.startsWith('--') ? nearest(name, [...known.keys()]) : undefined;
  fault(reading, rawName, meant === undefined ? 'is no known flag' : `is no known flag; did you mean --${meant}?`);
  reading.afterUnknown = value === undefined ? offset + index + 1 : -1;
}

const fault = ({ faults }: Reading, path: string, message: string) => faults.push({ path, message });

/** Whether the word in a value's place is one of our flags, and so no value. */
function isFlag(known: Reading['known'], text: string): boolean {
  if (text === '--') return true;
  if (!text.startsWith('--')) return [...known.values()].some(({ short }) => text === `-${short}`);
  const name = text.slice(2).replace(/=.*$/s, '');
  return known.has(name) || (name.startsWith('no-') && known.get(name.slice(3))?.kind === 'bool');
}

function set(reading: Reading, name: string, kind: FlagKind, text: string): void {
  const { values } = reading;
  if (kind === 'string') values.set(name, text);
  if (kind === 'list') values.set(name, [...((values.get(name) as readonly string[] | undefined) ?? []), text]);
  if (kind === 'int') {
    const number = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(number)) values.set(name, number);
    else fault(reading, `--${name}`, `must be a whole number, not ${JSON.stringify(text)}`);
  }
  if (kind === 'bool') {
    if (yes.includes(text) || no.includes(text)) values.set(name, yes.includes(text));
    else fault(reading, `--${name}`, `must be one of ${[...yes, ...no].join(', ')}, not ${JSON.stringify(text)}`);
  }
}
