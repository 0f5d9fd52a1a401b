/** The members of pools: projects that wait for whoever claims them. How one is begun, looked at again, and set aside. */

import { addSeconds } from '../../shared/add-seconds.js';
import { formatSeconds } from '../../shared/bootstrap/duration.js';
import { fillOptions } from '../../shared/bootstrap/rules.js';
import { preparedSlug } from '../../shared/command-words.js';
import { collections, type Lane } from '../../shared/names.js';
import type { Context } from '../context.js';
import { createBootstrap, emptyRecord } from '../engine/record/create.js';
import { type BootstrapRecord, liftBootstrap, read, type StoredBootstrap } from '../engine/record/documents.js';
import { makeBootstrapId, makeProjectId } from '../engine/record/ids.js';
import { type Transition, transitionWrites } from '../engine/record/transition.js';
import { Conflict, type Write } from '../store/store.js';
import type { Pool } from './setting.js';

/** Nobody's. No e-mail is like it. */
const poolOwner = 'pool';

/** The one step of the preparation that needs no other. Sweep begins with it, and so needs to know no step. */
export const firstInstance = { id: 'policies', lane: 'cloud' as Lane };

/** Of one pool, or of all. */
export async function membersOf({ store }: Pick<Context, 'store'>, key?: string): Promise<StoredBootstrap[]> {
  const found = await store.query({
    collection: collections.bootstraps,
    where: [key === undefined ? ['pool', '>', ''] : ['pool', '==', key]],
  });
  return found.flatMap((document) => read(document, liftBootstrap) ?? []);
}

/** Somebody may have it now. */
export const isFree = ({ pool, state, removal, deadlineAt }: BootstrapRecord, at: string): boolean =>
  pool !== undefined && state === 'succeeded' && removal === undefined && deadlineAt > at;

type Started = Transition<typeof firstInstance>;

function started(record: BootstrapRecord, at: string): Started {
  const instances = Object.fromEntries(
    Object.entries({ ...record.instances, [firstInstance.id]: record.instances[firstInstance.id] }).map(
      ([id, instance]) => [
        id,
        {
          state: id === firstInstance.id ? ('ready' as const) : ('waiting' as const),
          attempt: 0,
          ...(instance?.output === undefined ? {} : { output: instance.output }),
        },
      ],
    ),
  );
  const { generation } = record;
  const event = { schema: 1, type: 'state', at, state: 'running', generation } as const;
  return { record: { ...record, state: 'running', instances }, ready: [firstInstance], events: [{ event }] };
}

/** A new member, and the writes that begin it. */
export function newMember(
  {
    random,
    config: { defaultParent, machineAccess, sshSourceRanges, loadBalancers },
  }: Pick<Context, 'random' | 'config'>,
  pool: Pool,
  now: Date,
): { readonly id: string; readonly generation: number; readonly writes: readonly Write[] } {
  const at = now.toISOString();
  const id = makeBootstrapId(random);
  const projectId = makeProjectId(random, preparedSlug);
  const { billingAccount, region, parent, key, maxAgeSeconds } = pool;
  const folder = parent === defaultParent ? {} : { folderId: parent.replace('folders/', '') };
  const projectTtl = formatSeconds(maxAgeSeconds).replaceAll(' ', '');
  const deadlineAt = addSeconds(now, maxAgeSeconds);
  const empty = emptyRecord({
    name: projectId,
    projectId,
    owner: poolOwner,
    ownerMember: poolOwner,
    options: { ...fillOptions({ projectName: projectId, billingAccount, region, projectTtl, ...folder }) },
    machineAccess,
    sshSourceRanges: [...sshSourceRanges],
    loadBalancers,
    createdAt: at,
    deadlineAt,
    removeAt: deadlineAt,
    prepared: { pool: key, since: at },
    pool: key,
  });
  const { record, writes } = createBootstrap(id, empty, started(empty, at), at);
  return { id, generation: record.generation, writes };
}

/** Everything of it is looked at again, in a new generation. It is nobody's to claim until that is over. */
export function lookedAgain({ id, version, data }: StoredBootstrap, at: string): readonly Write[] {
  const { endedAt: _, ...kept } = data;
  return transitionWrites(id, version, data, started({ ...kept, generation: data.generation + 1 }, at), at);
}

/**
 * From now on nobody claims it, and its time is over: cleanup removes it, as it removes everything. False: somebody was faster,
 * such as one who claimed it.
 */
export async function setAside(
  context: Pick<Context, 'store' | 'clock' | 'log'>,
  { id, version, data }: StoredBootstrap,
  why: string,
): Promise<boolean> {
  const at = context.clock.now().toISOString();
  const { pool: _, ...kept } = data;
  const event = { schema: 1, type: 'action', at, actor: 'plinth', action: `set aside: ${why}` } as const;
  const record = { ...kept, deadlineAt: at, removeAt: at };
  const writes = transitionWrites(id, version, data, { record, ready: [], events: [{ event }] }, at);
  if (!(await isWritten(context, writes))) return false;
  context.log('WARNING', `The prepared project ${data.projectId} is set aside: ${why}`, { bootstrap: id });
  return true;
}

/** False: somebody was faster. */
export async function isWritten({ store }: Pick<Context, 'store'>, writes: readonly Write[]): Promise<boolean> {
  try {
    await store.commit(writes);
    return true;
  } catch (error) {
    if (error instanceof Conflict) return false;
    throw error;
  }
}
