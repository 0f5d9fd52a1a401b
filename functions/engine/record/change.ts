/** One change of a bootstrap that a person or cleanup makes: decided by the record as it is, written against its version. */
import { collections } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import { afterConflict, persist } from '../../store/persist.js';
import { Conflict, type Write } from '../../store/store.js';
import type { StoredBootstrap } from './documents.js';
import { liftBootstrap, read } from './documents.js';
import type { Change } from './transition.js';

export interface Decided {
  readonly change: Change;
  /** The first one is that of the bootstrap itself. */
  readonly writes: readonly Write[];
}

const conflictTries = 30;

export async function getBootstrap(
  { store }: Pick<Context, 'store'>,
  id: string,
): Promise<StoredBootstrap | undefined> {
  return read(await persist(() => store.get(collections.bootstraps, id)), liftBootstrap);
}

/** Decides by the record as it is, and again if somebody else was first. `undefined`: nothing is to be written. */
export async function change(
  context: Context,
  id: string,
  decide: (standing: StoredBootstrap, at: string) => Promise<Decided | undefined>,
): Promise<{ standing: StoredBootstrap; change?: Change }> {
  for (let attempt = 0; ; attempt++) {
    const standing = await getBootstrap(context, id);
    if (standing === undefined) throw new Problem('not-found', `There is no bootstrap ${id}.`);
    const at = context.clock.now().toISOString();
    const decided = await decide(standing, at);
    if (decided === undefined) return { standing };
    try {
      const [version = ''] = await persist(() => context.store.commit(decided.writes));
      const events = standing.data.events + decided.change.events.length;
      return { standing: { ...standing, version, data: { ...decided.change.record, events } }, change: decided.change };
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      if (attempt >= conflictTries)
        throw new Problem('unavailable', 'The bootstrap changes too fast.', { retryAfterSeconds: 2 });
      await afterConflict(attempt);
    }
  }
}
