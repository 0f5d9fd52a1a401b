/** Which words may follow which on plinth's command line, read from the commands and the one table of flags. */
import * as z from 'zod';
import { type Flag, flagName, flagOf, isPath, type Option } from '../../shared/bootstrap/options.js';
import { Role } from '../../shared/organization/organization.js';
import type { ArgumentName } from '../frame/arguments.js';
import type { Command } from '../frame/command.js';
import { allFlags, commonFlags, inheritedOptions, optionOf, sharedFlags } from '../frame/flags.js';
import { namesOf } from './seen-names.js';

export const shells = ['bash', 'zsh', 'fish'] as const;

export interface FlagWord {
  /** `--registry-type` */
  readonly name: string;
  /** `-s` */
  readonly short?: string;
  readonly help: string;
  readonly takes: 'nothing' | 'text' | 'path' | readonly string[];
  readonly repeated: boolean;
}

/** After `plinth` and these words: a command, the beginning of some commands, or both. */
export interface CompletionPlace {
  readonly words: string;
  readonly next: readonly { readonly word: string; readonly help: string }[];
  readonly flags: readonly FlagWord[];
  /** For arguments that take one of a few words. The key is how many arguments come before it. */
  readonly values: ReadonlyMap<number, readonly string[]>;
  /** For arguments that take a name: the file of those that commands have seen. */
  readonly names: ReadonlyMap<number, string>;
}

const argumentValues: Partial<Record<ArgumentName, readonly string[]>> = { role: Role.options, shell: shells };
const flagValues: Readonly<Record<string, readonly string[]>> = { role: Role.options };
/** plinth's own flags that take a path. For the others, the flag table says so. */
const ownPaths: ReadonlySet<string> = new Set(['package', 'age-key', 'state-dir', 'root', 'from', 'to', 'file']);

const enumOf = ({ schema }: Flag): readonly string[] | undefined =>
  schema instanceof z.ZodEnum ? schema.options.map(String) : undefined;

function takesOf(name: string, option: Option | undefined): FlagWord['takes'] {
  if (allFlags[name]?.kind === 'bool') return 'nothing';
  if (option === undefined) return flagValues[name] ?? (ownPaths.has(name) ? 'path' : 'text');
  return enumOf(flagOf(option)) ?? (isPath(option) ? 'path' : 'text');
}

function flagWord(name: string, help: string): FlagWord {
  const flag = allFlags[name];
  return {
    name: `--${name}`,
    ...(flag?.short !== undefined && { short: `-${flag.short}` }),
    help,
    takes: takesOf(name, optionOf(name)),
    repeated: flag?.kind === 'list',
  };
}
const optionWord = (option: Option): FlagWord => flagWord(flagName(option).slice(2), flagOf(option).help);

/** All flags that take a value. A name means the same in every command. */
export const valueFlags = (): FlagWord[] =>
  Object.keys(allFlags)
    .map((name) => flagWord(name, ''))
    .filter(({ takes }) => takes !== 'nothing');

function byPosition<T>(taken: readonly ArgumentName[], known: Partial<Record<ArgumentName, T>>): Map<number, T> {
  return new Map(
    taken.flatMap((name, at) => {
      const found = known[name];
      return found === undefined ? [] : [[at, found] as const];
    }),
  );
}

export function placesOf(commands: readonly Command[]): CompletionPlace[] {
  const byWords = new Map(commands.map((command) => [command.words, command]));
  const all = new Set(
    commands.flatMap(({ words }) => {
      const parts = words.split(' ');
      return parts.map((_, count) => parts.slice(0, count).join(' ')).concat(words);
    }),
  );
  const beneath = (words: string): CompletionPlace['next'] =>
    [...all]
      .filter((each) => each !== '' && each.slice(0, Math.max(0, each.lastIndexOf(' '))) === words)
      .map((each) => {
        const known = byWords.get(each)?.summary;
        return { word: each.slice(each.lastIndexOf(' ') + 1), help: known ?? `Commands of plinth ${each}` };
      });
  const everywhere = [
    ...inheritedOptions.map(optionWord),
    ...commonFlags.map((name) => flagWord(name, sharedFlags[name])),
  ];
  return [...all].map((words) => {
    const command = byWords.get(words);
    const own = (command?.options ?? [])
      .filter((option) => !(inheritedOptions as readonly Option[]).includes(option))
      .map(optionWord);
    const flags = Object.entries(command?.flags ?? {}).map(([name, help]) => flagWord(name, help));
    const version = words === '' ? [flagWord('version', sharedFlags.version)] : [];
    const taken = [...(command?.takes ?? []), ...(command?.mayTake ?? [])];
    return {
      words,
      next: beneath(words),
      flags: [...own, ...flags, ...everywhere, ...version],
      values: byPosition(taken, argumentValues),
      names: byPosition(taken, namesOf),
    };
  });
}
