/** Store calls of the engine that survive a short absence of the database. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../../shared/problems.js';

const tries = 4;

/** Retries while the store is unavailable. Other errors come out at once. */
export async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'unavailable' || attempt >= tries) throw error;
      await sleep(100 * 3 ** attempt * (0.5 + Math.random() / 2));
    }
  }
}

/** Waits before reading again after a lost race. It waits longer each time, so that many racers thin out. */
export const afterConflict = (attempt: number): Promise<void> =>
  sleep(Math.random() * Math.min(10 * 2 ** attempt, 300));
