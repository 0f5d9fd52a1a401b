/** Wakes an instance that waited for the caller's machine. */
import { addSeconds } from '../../../shared/add-seconds.js';
import { collections } from '../../../shared/names.js';
import type { Context } from '../../context.js';
import { leaseId, liftLease, read } from '../../engine/record/documents.js';
import { transitionWrites } from '../../engine/record/transition.js';
import { updateBootstrap } from '../../engine/record/update.js';
import { publishReady } from '../../engine/run/publish.js';

/** The caller's machine says that it has done its part. That proves nothing, so the instance observes again. */
export async function wakeInstance(context: Context, id: string, instance: string): Promise<void> {
  const { store, clock } = context;
  let lane: 'cloud' | 'host' = 'cloud';
  let generation = 0;
  let woken = false;
  await updateBootstrap(context, id, async ({ data, version }, at) => {
    const lease = read(await store.get(collections.leases, leaseId(id, instance)), liftLease);
    const record = data.instances[instance];
    woken = data.state === 'running' && record?.state === 'client' && lease?.data.state === 'client';
    if (!woken || record === undefined || lease === undefined) return undefined;
    ({ lane } = lease.data);
    ({ generation } = data);
    const instances = { ...data.instances, [instance]: { ...record, state: 'ready' as const } };
    const awake = { record: { ...data, instances }, ready: [], events: [] };
    return {
      transition: awake,
      writes: [
        ...transitionWrites(id, version, data, awake, at),
        {
          kind: 'update',
          collection: collections.leases,
          id: lease.id,
          version: lease.version,
          data: { state: 'ready', note: undefined, dueAt: addSeconds(clock.now(), 30) },
        },
      ],
    };
  });
  if (woken) await publishReady(context, id, generation, [{ id: instance, lane }]);
}
