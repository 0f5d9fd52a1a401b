/**
 * Stops a bootstrap: running instances stop at their next border, and nothing else begins. Cancelling and removing both begin
 * with it.
 */
import { addSeconds } from '../../../shared/add-seconds.js';
import type { Context } from '../../context.js';
import {
  type BootstrapRecord,
  type LeaseRecord,
  leaseId,
  liftLease,
  read,
  type StoredBootstrap,
} from '../../engine/record/documents.js';
import { leasesOf } from '../../engine/record/leases-of.js';
import { planOfRecord } from '../../engine/record/plan-of-record.js';
import { advance, publishGraceSeconds, type Transition, transitionWrites } from '../../engine/record/transition.js';
import { type Update, updateBootstrap } from '../../engine/record/update.js';
import { publishReady } from '../../engine/run/publish.js';
import type { AnyStep } from '../../engine/step.js';
import { costlySteps } from '../../steps/cloud/outputs.js';
import type { Write } from '../../store/store.js';

const stepOf = (instance: string): string => instance.replace(/:.*/, '');

/**
 * `next` is the new record, in state `cancelling`. Holders of leases are asked to end, and sweep finds holders that died.
 * What was asked for and costs money is looked at once more, so that the estimate knows of it. What of that nobody holds is
 * free. Without such a lease the record ends at once, or its removal begins at once.
 */
export async function stop(
  { store, clock }: Context,
  steps: readonly AnyStep[],
  { id, version, data }: StoredBootstrap,
  next: BootstrapRecord,
  at: string,
  events: Transition['events'],
): Promise<Update> {
  const leases = (await leasesOf({ store }, id)).flatMap((document) => read(document, liftLease) ?? []);
  const now = clock.now().toISOString();
  const plan = planOfRecord(steps, next);
  const isHeld = ({ state, expiresAt = '' }: LeaseRecord): boolean => state === 'running' && expiresAt > now;
  // What it may have asked for costs. A removal takes the whole project, and waits for no look.
  const leaves = ({ number, instance }: LeaseRecord): boolean =>
    next.removal === undefined && number > 0 && costlySteps.includes(stepOf(instance));
  const running = leases.filter(({ data: lease }) => isHeld(lease) || leaves(lease));
  const runs = new Set(running.map((lease) => lease.data.instance));
  const instances = Object.fromEntries(
    Object.entries(data.instances).map(([instance, record]) => {
      if (runs.has(instance)) return [instance, { ...record, state: 'ready' as const }];
      const stops = ['waiting', 'ready', 'client'].includes(record.state);
      return [instance, stops ? { ...record, state: 'cancelled' as const, endedAt: at } : record];
    }),
  );
  const dueAt = addSeconds(new Date(at), publishGraceSeconds);
  const transition = advance({ ...next, instances }, plan, at, events);
  const begun = new Set(transition.ready.map((instance) => leaseId(id, instance.id)));
  return {
    transition,
    free: running.flatMap(({ data: lease }) => (isHeld(lease) ? [] : { id: lease.instance, lane: lease.lane })),
    writes: [
      ...transitionWrites(id, version, data, transition, at),
      ...leases
        .filter((lease) => !begun.has(lease.id))
        .map(
          (lease): Write =>
            runs.has(lease.data.instance)
              ? {
                  kind: 'update',
                  collection: lease.collection,
                  id: lease.id,
                  version: lease.version,
                  data: { cancel: true, ...(isHeld(lease.data) ? {} : { notBefore: undefined, dueAt }) },
                }
              : { kind: 'delete', collection: lease.collection, id: lease.id, version: lease.version },
        ),
    ],
  };
}

/**
 * Running instances stop where they can, and nothing else begins. What was made is kept. A bootstrap that has ended does not
 * change.
 */
export async function cancel(
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  actor: string,
): Promise<StoredBootstrap> {
  const { standing, free = [] } = await updateBootstrap(context, id, async (found, at) => {
    const { data } = found;
    if (data.state !== 'running') return undefined;
    return stop(context, steps, found, { ...data, state: 'cancelling' }, at, [
      { event: { schema: 1, type: 'action', at, actor, action: 'cancel' } },
      { event: { schema: 1, type: 'state', at, state: 'cancelling', generation: data.generation } },
    ]);
  });
  await publishReady(context, id, standing.data.generation, free);
  return standing;
}
