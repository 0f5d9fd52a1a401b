/**
 * Makes writers of one document take turns within a process. Many instances of a bootstrap end at the same moment, and many
 * people join one team. Without turns they would lose races against each other again and again. Versions still guard against
 * other processes.
 */
import type { Store } from './store.js';

export interface Turn<T> {
  /** What the previous writer left. Another process may have outdated it. */
  latest: T | undefined;
}

interface Line {
  last: Promise<unknown>;
  waiting: number;
  readonly turn: Turn<unknown>;
}

/** How many lines without a writer are kept for what their last one left. */
const maxIdle = 64;

const linesOf = new WeakMap<Store, Map<string, Line>>();

const linesIn = (store: Store): Map<string, Line> => {
  const lines = linesOf.get(store) ?? new Map<string, Line>();
  linesOf.set(store, lines);
  return lines;
};

/** The writers of both stores wait in the same lines: `made` is another form of `store`. */
export function shareTurns(store: Store, made: Store): Store {
  linesOf.set(made, linesIn(store));
  return made;
}

/** Runs `work` after all earlier work has ended, whether or not it failed. */
export async function inTurn<T, Latest = never>(
  store: Store,
  key: string,
  work: (turn: Turn<Latest>) => Promise<T>,
): Promise<T> {
  const lines = linesIn(store);
  const line = lines.get(key) ?? { last: Promise.resolve(), waiting: 0, turn: { latest: undefined } };
  lines.set(key, line);
  line.waiting += 1;
  const mine = line.last.then(() => work(line.turn as Turn<Latest>));
  line.last = mine.catch(() => undefined);
  try {
    return await mine;
  } finally {
    line.waiting -= 1;
    if (line.waiting === 0) rest(lines, key, line);
  }
}

/** What became of one of several that were done together. */
export type Outcome<T> = { readonly value: T } | { readonly error: unknown };

interface Batch {
  readonly items: unknown[];
  readonly done: Promise<readonly Outcome<unknown>[]>;
}

/** So few that one commit holds what all of them write. */
const maxTogether = 20;

const batchesOf = new WeakMap<Store, Map<string, Batch>>();

export interface Together<Item, T, Latest> {
  gather(turn: Turn<Latest>): Promise<void>;
  work(items: readonly Item[], turn: Turn<Latest>): Promise<readonly Outcome<T>[]>;
}

/**
 * The same for what can be written together: whoever comes while others wait for their turn joins them, also during
 * `gather`. `work` gets all of them, and answers for each in their order. If it throws, it has failed for all.
 */
export async function togetherInTurn<Item, T, Latest>(
  store: Store,
  key: string,
  item: Item,
  { gather, work }: Together<Item, T, Latest>,
): Promise<T> {
  const batches = batchesOf.get(store) ?? new Map<string, Batch>();
  batchesOf.set(store, batches);
  const open = batches.get(key);
  const batch = open === undefined || open.items.length >= maxTogether ? begin() : open;
  const place = batch.items.push(item) - 1;
  const outcome = (await batch.done)[place] as Outcome<T>;
  if ('error' in outcome) throw outcome.error;
  return outcome.value;

  function begin(): Batch {
    const items: Item[] = [];
    const done = inTurn<readonly Outcome<T>[], Latest>(store, key, async (turn) => {
      await gather(turn);
      if (batches.get(key) === made) batches.delete(key);
      return work(items, turn);
    });
    const made: Batch = { items, done };
    batches.set(key, made);
    return made;
  }
}

/** The line moves behind the others that rest. The first of them, which rests longest, goes. */
function rest(lines: Map<string, Line>, key: string, line: Line): void {
  lines.delete(key);
  if (line.turn.latest === undefined) return;
  lines.set(key, line);
  if (lines.size <= maxIdle) return;
  const [oldest] = [...lines].find(([, { waiting }]) => waiting === 0) ?? [];
  if (oldest !== undefined) lines.delete(oldest);
}
