/** Bootstraps as the HTTP function deals with them: begun, found, shown, cancelled. What runs them is in run.ts. */
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { collections } from '../../shared/names.js';
import type { Context } from '../context.js';
import { graphOf } from '../engine/graph.js';
import { planOf as planInstances, titleOf } from '../engine/plan.js';
import { change, getBootstrap } from '../engine/record/change.js';
import {
  fileId,
  leaseId,
  liftBootstrap,
  liftFile,
  liftLease,
  liftName,
  nameId,
  read,
} from '../engine/record/documents.js';
import { persist } from '../engine/record/persist.js';
import { changeWrites, eventWrites } from '../engine/record/transition.js';
import { publishReady } from '../engine/run/publish.js';
import type { AnyStep } from '../engine/step.js';
import type { Query, Write } from '../store/store.js';
import type { StoredBootstrap } from './begin.js';
import { stop } from './stop.js';

export { getBootstrap } from '../engine/record/change.js';
export { readEvents, readProgress } from '../engine/record/events.js';
export { listLogs, readLog, readLogNews } from '../engine/record/read-log.js';
export { type Begun, beginOrResume, checkResume, type StoredBootstrap } from './begin.js';
export { bind, checkBound, isBoundToAnother } from './bound.js';
export { extend, protect, unprotect } from './lifetime.js';
export { lookAgain } from './look-again.js';
export { share, transfer, unshare } from './people.js';
export { requestRemoval } from './removal.js';
export { summaryOf, viewOf } from './view.js';

/** By the name of the project alone. */
export async function findClaimed(context: Pick<Context, 'store'>, name: string): Promise<StoredBootstrap | undefined> {
  const claimed = read(await persist(() => context.store.get(collections.names, nameId(name))), liftName);
  return claimed === undefined ? undefined : getBootstrap(context, claimed.data.bootstrapId);
}

/** By the name of the project, its id, or the bootstrap's own id. */
export async function findByName(context: Pick<Context, 'store'>, name: string): Promise<StoredBootstrap | undefined> {
  const { store } = context;
  const claimed = await findClaimed(context, name);
  if (claimed !== undefined) return claimed;
  const [byProject] = await persist(() =>
    store.query({ collection: collections.bootstraps, where: [['projectId', '==', name]], limit: 1 }),
  );
  if (byProject !== undefined) return read(byProject, liftBootstrap);
  return /^b[a-z0-9]{15}$/.test(name) ? getBootstrap(context, name) : undefined;
}

/** Newest first; those that one person owns or that are shared with them, or all. */
export async function listBootstraps(
  { store }: Pick<Context, 'store'>,
  { person }: { readonly person?: string | undefined } = {},
): Promise<StoredBootstrap[]> {
  const { bootstraps: collection } = collections;
  const queries: Query[] =
    person === undefined
      ? [{ collection }]
      : [
          { collection, where: [['owner', '==', person]] },
          { collection, where: [['sharedWith', 'array-contains', person]] },
        ];
  const found = await persist(() => Promise.all(queries.map((query) => store.query(query))));
  return found
    .flat()
    .flatMap((document) => read(document, liftBootstrap) ?? [])
    .sort((a, b) => (a.data.createdAt < b.data.createdAt ? 1 : -1));
}

/** A generated file: `config-dc1`, `secrets-dc1`, … */
export async function readFile(
  { store }: Pick<Context, 'store'>,
  id: string,
  name: string,
): Promise<string | undefined> {
  return read(await persist(() => store.get(collections.files, fileId(id, name))), liftFile)?.data.content;
}

/** What options would make, in the order in which it may start. */
export const planOf = (steps: readonly AnyStep[], options: BootstrapOptions) =>
  [...planInstances(graphOf(steps), options).values()].map(({ id, step, key, lane, needs }) => ({
    id,
    title: titleOf({ step, key }),
    lane,
    needs: [...needs],
    makes: [...step.describe(options, key)],
  }));

/** Somebody did something worth keeping. Stands before this returns. */
export async function recordAction(context: Context, id: string, actor: string, action: string): Promise<void> {
  await change(context, id, async ({ data, version }, at) => {
    const events = [{ event: { schema: 1, type: 'action', at, actor, action } as const }];
    const writes: Write[] = [
      { kind: 'update', collection: collections.bootstraps, id, version, data: { events: data.events + 1 } },
      ...eventWrites(id, data, events),
    ];
    return { change: { record: data, ready: [], events }, writes };
  });
}

/** What runs stops where it can be stopped; nothing else begins. What stands, stands. One that has ended stays as it is. */
export async function cancel(
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  actor: string,
): Promise<StoredBootstrap> {
  const { standing } = await change(context, id, async (found, at) => {
    const { data } = found;
    if (data.state !== 'running') return undefined;
    return stop(context, steps, found, { ...data, state: 'cancelling' }, at, [
      { event: { schema: 1, type: 'action', at, actor, action: 'cancel' } },
      { event: { schema: 1, type: 'state', at, state: 'cancelling', generation: data.generation } },
    ]);
  });
  return standing;
}

/** The caller's machine has done its part: look again. It proves nothing; `observe` does. */
export async function wakeInstance(context: Context, id: string, instance: string): Promise<void> {
  const { store, clock } = context;
  let lane: 'cloud' | 'host' = 'cloud';
  let generation = 0;
  let woken = false;
  await change(context, id, async ({ data, version }, at) => {
    const lease = read(await persist(() => store.get(collections.leases, leaseId(id, instance))), liftLease);
    const record = data.instances[instance];
    woken = data.state === 'running' && record?.state === 'client' && lease?.data.state === 'client';
    if (!woken || record === undefined || lease === undefined) return undefined;
    ({ lane } = lease.data);
    ({ generation } = data);
    const instances = { ...data.instances, [instance]: { ...record, state: 'ready' as const } };
    const awake = { record: { ...data, instances }, ready: [], events: [] };
    return {
      change: awake,
      writes: [
        ...changeWrites(id, version, data, awake, at),
        {
          kind: 'update',
          collection: collections.leases,
          id: lease.id,
          version: lease.version,
          data: { state: 'ready', note: undefined, dueAt: new Date(clock.now().getTime() + 30_000).toISOString() },
        },
      ],
    };
  });
  if (woken) await publishReady(context, id, generation, [{ id: instance, lane }]);
}
