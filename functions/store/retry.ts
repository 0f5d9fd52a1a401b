/** Retries of a process on its database: calls while it cannot be reached, and the pause after a lost race. */

import { Problem } from '../../shared/problems.js';
import type { Clock } from '../host/clock.js';
import type { Random } from '../host/random.js';
import type { Store } from './store.js';

const tries = 6;

/** What a process waits by. */
interface Waiting {
  readonly clock: Pick<Clock, 'pause'>;
  readonly random: Pick<Random, 'fraction'>;
}

/**
 * The same store, whose calls are sent again while the database cannot be reached. Other errors are thrown at once. A
 * transaction is not retried, because its body decides by what it has read. Firestore's client retries it where it may.
 */
export function withRetries(store: Store, { clock, random }: Waiting): Store {
  async function retrying<T>(call: () => Promise<T>, onRetry?: () => void): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'unavailable' || attempt >= tries) throw error;
        await clock.pause((2 ** attempt * (0.5 + random.fraction() / 2)) / 10);
        onRetry?.();
      }
    }
  }
  return {
    ...store,
    get: (collection, id) => retrying(() => store.get(collection, id)),
    getMany: (collection, ids) => retrying(() => store.getMany(collection, ids)),
    query: (query) => retrying(() => store.query(query)),
    commit: (writes, { once = false, onRetry } = {}) =>
      once ? store.commit(writes) : retrying(() => store.commit(writes), onRetry),
  };
}

/** Waits before reading again after a lost race. It waits longer each time, so that many racers thin out. */
export const afterConflict = ({ clock, random }: Waiting, attempt: number): Promise<void> =>
  clock.pause((random.fraction() * Math.min(10 * 2 ** attempt, 300)) / 1000);
