/** Draws mutants by a seed, and finds those of an earlier draw again after other lines of their files changed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../organizations/random.js';
import { type Mutation, mutationsOf } from './mutations.js';

/** As the file of a draw keeps it. */
export interface Mutant {
  /** From the top of the project. */
  readonly file: string;
  /** The line that it begins in, how often that line stood in the file before it, and where it begins there. */
  readonly line: string;
  readonly nth: number;
  readonly column: number;
  readonly was: string;
  readonly put: string;
}

export type Placed = Mutant & Mutation;

const folders = ['cli', 'functions', 'shared'];

const sourcesOf = (root: string): string[] =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file))
      .sort(),
  );

function candidatesOf(root: string, file: string): Placed[] {
  const text = readFileSync(join(root, file), 'utf8');
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const lines = text.split('\n');
  return mutationsOf(file, text).map((mutation) => {
    const number = starts.findLastIndex((start) => start <= mutation.start);
    const line = lines[number] ?? '';
    const nth = lines.slice(0, number).filter((each) => each === line).length;
    const column = mutation.start - (starts[number] ?? 0);
    return { ...mutation, file, line, nth, column, was: text.slice(mutation.start, mutation.end) };
  });
}

const overlap = (one: Placed, other: Placed): boolean =>
  one.file === other.file && one.start < other.end && other.start < one.end;

/** As many as asked for, of which none stands within another. */
export function draw(root: string, random: Random, count: number): Placed[] {
  const left = sourcesOf(root).flatMap((file) => candidatesOf(root, file));
  const drawn: Placed[] = [];
  while (drawn.length < count && left.length > 0) {
    const [each] = left.splice(random.below(left.length), 1) as [Placed];
    if (!drawn.some((other) => overlap(each, other))) drawn.push(each);
  }
  return drawn;
}

/** Undefined where its line is no longer there. */
export function findAgain(root: string, { file, line, nth, column, was, put }: Mutant): Placed | undefined {
  if (!sourcesOf(root).includes(file)) return undefined;
  return candidatesOf(root, file).find(
    (each) => each.line === line && each.nth === nth && each.column === column && each.was === was && each.put === put,
  );
}
