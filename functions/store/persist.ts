/** Store calls of the engine that survive a short absence of the database. */

import { Problem } from '../../shared/problems.js';
import { type Clock, realTimers } from '../host/clock.js';
import { type Random, realRandom } from '../host/random.js';

const tries = 6;

interface Means {
  readonly clock: Pick<Clock, 'pause'>;
  readonly random: Pick<Random, 'fraction'>;
}
let means: Means = { clock: realTimers, random: realRandom };

/**
 * What the whole process waits by, because calls of the store carry no context. Returns what it waited by before. For worlds
 * with a time of their own.
 */
export function retryBy(chosen: Means): Means {
  const before = means;
  means = chosen;
  return before;
}

/** Retries while the store is unavailable. Other errors come out at once. */
export async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'unavailable' || attempt >= tries) throw error;
      await means.clock.pause((2 ** attempt * (0.5 + means.random.fraction() / 2)) / 10);
    }
  }
}

/** Waits before reading again after a lost race. It waits longer each time, so that many racers thin out. */
export const afterConflict = (attempt: number): Promise<void> =>
  means.clock.pause((means.random.fraction() * Math.min(10 * 2 ** attempt, 300)) / 1000);
