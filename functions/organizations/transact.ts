/** A transaction that starts over when others were first. Every change of organizations and teams goes through it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { Conflict, type Transaction, type Write } from '../store/store.js';

/** Further writes of the same transaction, by what it results in; none where nothing changes. */
export type Also<T> = (result: T) => readonly Write[];

const tries = 8;
/** Firestore's client tries each of them several times itself; a caller shall have an answer before the function's time is up. */
const patienceMs = 15_000;

/** `change` may run several times; only what its last run wrote stands. */
export async function transact<T>(
  { store }: Pick<Context, 'store'>,
  change: (transaction: Transaction) => Promise<T>,
  also: Also<T> = () => [],
): Promise<T> {
  const patientUntil = performance.now() + patienceMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await store.transaction(async (transaction) => {
        let writes = 0;
        const result = await change({
          ...transaction,
          write(...more) {
            writes += more.length;
            transaction.write(...more);
          },
        });
        if (writes > 0) transaction.write(...also(result));
        return result;
      });
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      if (attempt === tries || performance.now() > patientUntil) throw busy(error);
      await sleep(Math.random() * Math.min(10 * 2 ** attempt, 500));
    }
  }
}

export const busy = (cause?: unknown): Problem =>
  new Problem('unavailable', 'Too many change this at once.', { retryAfterSeconds: 2, cause });
