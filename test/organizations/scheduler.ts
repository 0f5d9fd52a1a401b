/**
 * Decides by seed, at every call to the store and every wait, who goes on: so that whatever can happen at once does happen, and
 * happens again by the same seed. Each client is a process of its own, on one store in memory.
 */
import type { Clock } from '../../functions/host/clock.js';
import type { Random as Chance } from '../../functions/host/random.js';
import { retryBy } from '../../functions/store/persist.js';
import type { Store } from '../../functions/store/store.js';
import { createMemoryStore, type MemoryStore } from '../../local/functions/memory-store.js';
import { chanceOf, type Random } from './random.js';

export interface Client {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Chance;
}

export interface Scheduler {
  readonly memory: MemoryStore;
  /** Its clock is so many seconds ahead of the others. */
  client(aheadSeconds: number): Client;
  /** Runs all of them to their ends. `onCommit` is called after each commit that changes something. */
  run(works: readonly (() => Promise<void>)[], onCommit: () => void): Promise<void>;
}

interface Waiting {
  /** On the common clock, in milliseconds. */
  readonly from: number;
  go(): void;
}

/** Lets all go on that can without being let. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function createScheduler(random: Random): Scheduler {
  const memory = createMemoryStore(() => time);
  const chance = chanceOf(random);
  const waiting: Waiting[] = [];
  let time = Date.parse('2026-01-01T00:00:00.000Z');
  let committed = (): void => undefined;

  const turn = (inMs = 0): Promise<void> => new Promise((go) => waiting.push({ from: time + inMs, go }));

  const sleep = (seconds: number): Promise<void> => turn(seconds * 1000);
  const later: Clock['after'] = (seconds, work) => {
    let stopped = false;
    void sleep(seconds).then(() => (stopped ? undefined : work()));
    return () => {
      stopped = true;
    };
  };

  const store: Store = {
    ...memory,
    async get(collection, id) {
      await turn();
      return memory.get(collection, id);
    },
    async getMany(collection, ids) {
      await turn();
      return memory.getMany(collection, ids);
    },
    async query(query) {
      await turn();
      return memory.query(query);
    },
    async commit(writes) {
      await turn();
      const versions = await memory.commit(writes);
      committed();
      return versions;
    },
    async transaction(body) {
      let writes = 0;
      const result = await memory.transaction(async (transaction) => {
        writes = 0;
        const inTurns = await body({
          ...transaction,
          async get(collection, id) {
            await turn();
            return transaction.get(collection, id);
          },
          async getMany(collection, ids) {
            await turn();
            return transaction.getMany(collection, ids);
          },
          write(...more) {
            writes += more.length;
            transaction.write(...more);
          },
        });
        await turn();
        return inTurns;
      });
      if (writes > 0) committed();
      return result;
    },
  };

  return {
    memory,
    client: (aheadSeconds) => ({
      // What takes turns in a process takes them by its store.
      store: { ...store },
      clock: { now: () => new Date(time + aheadSeconds * 1000), wait: sleep, pause: sleep, after: later },
      random: chance,
    }),

    async run(works, onCommit) {
      committed = onCommit;
      const before = retryBy({ clock: { pause: sleep }, random: chance });
      let living = works.length;
      const over = (): void => {
        living -= 1;
      };
      const ended = Promise.all(works.map((work) => work().finally(over)));
      ended.catch(() => undefined);
      try {
        await settled();
        while (living > 0) {
          if (waiting.length === 0) throw new Error('Nobody goes on');
          const [next] = waiting.splice(random.below(waiting.length), 1);
          time = Math.max(time, next?.from ?? 0);
          next?.go();
          await settled();
        }
        await ended;
      } finally {
        retryBy(before);
      }
    },
  };
}
