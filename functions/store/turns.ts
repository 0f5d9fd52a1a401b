/**
 * Writers of one document within one process, one after the other: many instances of a bootstrap end at the same moment, or
 * many people join one team, and would else outrun each other again and again. Other processes are met by versions, as ever.
 */
import type { Store } from './store.js';

export interface Turn<T> {
  /** What the one before left behind, if somebody came right after; may be outdated by another process. */
  latest: T | undefined;
}

interface Line {
  last: Promise<unknown>;
  waiting: number;
  readonly turn: Turn<unknown>;
}

const linesOf = new WeakMap<Store, Map<string, Line>>();

/** Runs `work` when all who came before are through, however they ended. */
export async function inTurn<T, Latest = never>(
  store: Store,
  key: string,
  work: (turn: Turn<Latest>) => Promise<T>,
): Promise<T> {
  const lines = linesOf.get(store) ?? new Map<string, Line>();
  linesOf.set(store, lines);
  const line = lines.get(key) ?? { last: Promise.resolve(), waiting: 0, turn: { latest: undefined } };
  lines.set(key, line);
  line.waiting += 1;
  const mine = line.last.then(() => work(line.turn as Turn<Latest>));
  line.last = mine.catch(() => undefined);
  try {
    return await mine;
  } finally {
    line.waiting -= 1;
    // Nobody came right after: what stands is read anew next time.
    if (line.waiting === 0) lines.delete(key);
  }
}
