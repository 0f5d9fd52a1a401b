/**
 * What functions that only Cloud Scheduler calls hold in plinth's own project. Nobody else can ask them, so they ask for
 * themselves now and then, and write down what they lack. `plinth doctor --deployment` reads that.
 */
import * as z from 'zod';
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { lift } from '../store/lift.js';
import { type Holder, missingGrants } from './needed-grants.js';

export type Scheduled = Extract<Holder, 'sweep' | 'cleanup'>;

/** `grants/{function}`. */
export const GrantsRecord = z.object({
  schema: z.literal(1),
  at: z.iso.datetime(),
  /** Permissions and their places, for people. Empty: it holds all. */
  missing: z.string(),
  /** Why Google did not tell what it holds. */
  untold: z.string().optional(),
});
type GrantsRecord = z.infer<typeof GrantsRecord>;
export const liftGrants = lift('grants of a function', GrantsRecord, 1);

export const restMs = 600_000;

/**
 * Each process looks every ten minutes, and at each run while something is missing or untold. Never throws: what is asked here is nothing
 * that a run needs.
 */
export function createGrantsReport({ cloud, config, store, clock, log }: Context, name: Scheduled) {
  let lookedAt = Number.NEGATIVE_INFINITY;
  return async (): Promise<void> => {
    const now = clock.now();
    if (now.getTime() - lookedAt < restMs) return;
    try {
      const found = await missingGrants({ cloud, config }, name)
        .then((missing) => ({ missing: missing.join(', ') }))
        .catch(untoldBy);
      const data: GrantsRecord = { schema: 1, at: now.toISOString(), ...found };
      await store.commit([{ kind: 'set', collection: collections.grants, id: name, data }]);
      lookedAt = found.missing === '' && !('untold' in found) ? now.getTime() : Number.NEGATIVE_INFINITY;
    } catch (error) {
      log('DEBUG', 'What this function holds could not be looked at', { error });
    }
  };
}

/** It has come to look all the same, and says so. */
function untoldBy(error: unknown): Pick<GrantsRecord, 'missing' | 'untold'> {
  if (error instanceof Problem) return { missing: '', untold: error.detail };
  throw error;
}
