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

/** Runs `work` after all earlier work has ended, whether or not it failed. */
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
    if (line.waiting === 0) rest(lines, key, line);
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
