/** Updates a bootstrap: decides by the current record, and writes against its version. */
import { collections } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import { afterConflict } from '../../store/retry.js';
import { Conflict, type Write } from '../../store/store.js';
import { liftBootstrap, read, type StoredBootstrap } from './documents.js';
import type { Leased, Transition } from './transition.js';

export interface Update {
  readonly transition: Transition<Leased>;
  /** Their leases stand, and nobody holds them. They are published with what became ready. */
  readonly free?: readonly Leased[];
  /** The first write is the bootstrap's own. */
  readonly writes: readonly Write[];
}

const conflictTries = 30;

export async function getBootstrap(
  { store }: Pick<Context, 'store'>,
  id: string,
): Promise<StoredBootstrap | undefined> {
  return read(await store.get(collections.bootstraps, id), liftBootstrap);
}

/** Decides by the current record, and again after a conflict. `undefined`: there is nothing to write. */
export async function updateBootstrap(
  context: Context,
  id: string,
  decide: (standing: StoredBootstrap, at: string) => Promise<Update | undefined>,
): Promise<{ standing: StoredBootstrap; transition?: Transition<Leased>; free?: readonly Leased[] }> {
  for (let attempt = 0; ; attempt++) {
    const standing = await getBootstrap(context, id);
    if (standing === undefined) throw new Problem('not-found', `There is no bootstrap ${id}.`);
    const at = context.clock.now().toISOString();
    const update = await decide(standing, at);
    if (update === undefined) return { standing };
    const { transition, writes, free = [] } = update;
    try {
      const [version = ''] = await context.store.commit(writes);
      const events = standing.data.events + transition.events.length;
      return {
        standing: { ...standing, version, data: { ...transition.record, events } },
        transition,
        free,
      };
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      if (attempt >= conflictTries)
        throw new Problem('unavailable', 'The bootstrap changes too fast.', { retryAfterSeconds: 2 });
      await afterConflict(context, attempt);
    }
  }
}
