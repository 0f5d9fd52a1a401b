/** Adds a person's action to a bootstrap's history. */
import { collections } from '../../shared/names.js';
import type { Context } from '../context.js';
import { eventWrites } from '../engine/record/transition.js';
import { updateBootstrap } from '../engine/record/update.js';
import type { Write } from '../store/store.js';

/** The event is stored before this returns. */
export async function recordAction(context: Context, id: string, actor: string, action: string): Promise<void> {
  await updateBootstrap(context, id, async ({ data, version }, at) => {
    const events = [{ event: { schema: 1, type: 'action', at, actor, action } as const }];
    const writes: Write[] = [
      { kind: 'update', collection: collections.bootstraps, id, version, data: { events: data.events + 1 } },
      ...eventWrites(id, data, events),
    ];
    return { transition: { record: data, ready: [], events }, writes };
  });
}
