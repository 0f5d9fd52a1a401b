/**
 * The end of an instance, written down: its lease goes, the bootstrap's record tells, what became ready is leased, all in one
 * commit; then that is published. Called by run.ts.
 */

import { collections } from '../../../shared/names.js';
import type { Trace } from '../../../shared/trace.js';
import type { Context } from '../../context.js';
import { afterConflict, persist } from '../../store/persist.js';
import { Conflict, type Write } from '../../store/store.js';
import { inTurn } from '../../store/turns.js';
import type { Instance } from '../plan.js';
import { callerSecret } from '../record/caller-secret.js';
import type { StoredBootstrap } from '../record/documents.js';
import {
  type BootstrapRecord,
  type CallRecord,
  type LeaseRecord,
  leaseId,
  liftBootstrap,
  read,
} from '../record/documents.js';
import { lastWrites } from '../record/last-writes.js';
import { removeLogs } from '../record/log.js';
import { planOfRecord } from '../record/plan-of-record.js';
import { tellQuarantine } from '../record/quarantine.js';
import { removalPlanOf } from '../record/removal-plan.js';
import { changeWrites, type Ending, endInstance, readyLease } from '../record/transition.js';
import type { AnyStep } from '../step.js';
import { type Held, LeaseLost } from './lease.js';
import { publishReady } from './publish.js';

export interface EndParts {
  readonly context: Context;
  readonly steps: readonly AnyStep[];
  readonly held: Held;
  readonly bootstrapId: string;
  readonly instance: string;
  readonly generation: number;
  readonly calls: readonly CallRecord[];
  readonly trace: Trace | undefined;
}

interface Ready {
  readonly generation: number;
  readonly instances: readonly Instance[];
}

const commitTries = 40;
/** A record read longer ago than this has probably been outdated by others: reading costs less than a lost race. */
const freshMilliseconds = 500;

/** Throws LeaseLost if it is not ours to end any more. */
export async function endWith(
  parts: EndParts,
  ending: Ending,
  seen: { readonly bootstrap: StoredBootstrap; readonly atMilliseconds: number },
): Promise<void> {
  const { context, bootstrapId, instance, generation, trace } = parts;
  // Before its last commit, as they may be more than one takes; whoever is cut off in between does it again.
  if (instance === callerSecret.name && ending.state === 'gone') await removeLogs(context.store, bootstrapId);
  const ready = await inTurn<Ready, StoredBootstrap>(context.store, bootstrapId, async (turn) => {
    let bootstrap = turn.latest ?? seen.bootstrap;
    if (bootstrap.data.generation !== generation) throw new LeaseLost(`${bootstrapId} has gone on`);
    if (turn.latest === undefined && performance.now() - seen.atMilliseconds > freshMilliseconds) {
      bootstrap = await reread(parts);
    }
    let version = await parts.held.stop();
    for (let attempt = 0; ; attempt++) {
      try {
        const ended = await commitEnd(parts, ending, bootstrap, version);
        turn.latest = ended.bootstrap;
        tellQuarantine(context.log, bootstrap.data, ended.bootstrap.data);
        // The end of what was cancelled may have begun its removal, in a generation of its own.
        return { generation: ended.bootstrap.data.generation, instances: ended.ready };
      } catch (error) {
        turn.latest = undefined;
        if (!(error instanceof Conflict) || attempt >= commitTries) throw error;
        await afterConflict(attempt);
        bootstrap = await reread(parts);
        const ours = await ourVersion(parts, bootstrap);
        if (ours === undefined) return readyNow(parts, bootstrap);
        version = ours;
      }
    }
  });
  await publishReady(context, bootstrapId, ready.generation, ready.instances, trace);
}

async function reread({ context: { store }, bootstrapId, generation }: EndParts): Promise<StoredBootstrap> {
  const now = read(await persist(() => store.get(collections.bootstraps, bootstrapId)), liftBootstrap);
  if (now === undefined || now.data.generation !== generation) throw new LeaseLost(`${bootstrapId} has gone on`);
  return now;
}

/** Undefined: our commit went through after all, and its answer was lost on the way. */
async function ourVersion({ held, instance }: EndParts, { data }: StoredBootstrap): Promise<string | undefined> {
  try {
    return await held.again();
  } catch (error) {
    if (error instanceof LeaseLost && data.instances[instance]?.endedAt !== undefined) return undefined;
    throw error;
  }
}

function readyNow(parts: EndParts, bootstrap: StoredBootstrap): Ready {
  const { generation, state, instances } = bootstrap.data;
  const plan = planOfRecord(parts.steps, bootstrap.data);
  const current = state === 'removing' ? removalPlanOf(plan) : plan;
  return { generation, instances: [...current.values()].filter(({ id }) => instances[id]?.state === 'ready') };
}

async function commitEnd(
  parts: EndParts,
  ending: Ending,
  bootstrap: StoredBootstrap,
  version: string,
): Promise<{ bootstrap: StoredBootstrap; ready: readonly Instance[] }> {
  const { context, held, bootstrapId, instance, calls } = parts;
  const { store, clock } = context;
  const at = clock.now().toISOString();
  const { startedAt, failures } = held.current();
  const attempt = Object.values(failures).reduce((sum, each) => sum + each, 0);
  const ended = { id: instance, ending: endingIn(bootstrap.data, ending), at, startedAt, attempt, calls };
  const change = endInstance(bootstrap.data, planOfRecord(parts.steps, bootstrap.data), ended);
  const again = change.ready.find(({ id }) => id === instance);
  const lease =
    again === undefined
      ? leaseWrite(parts, ended.ending, version)
      : newLeaseWrite(parts, version, held.current(), readyLease(bootstrapId, change.record.generation, again, at));
  const others = { ...change, ready: change.ready.filter((each) => each !== again) };
  const writes = [...changeWrites(bootstrapId, bootstrap.version, bootstrap.data, others, at), lease];
  if (change.record.state === 'removed') writes.push(...(await lastWrites(context, bootstrapId, change.record)));
  const [newVersion = ''] = await persist(() => store.commit(writes));
  const events = bootstrap.data.events + change.events.length;
  return { bootstrap: { ...bootstrap, version: newVersion, data: { ...change.record, events } }, ready: change.ready };
}

/** The caller's machine is not waited for once the bootstrap is to end: nothing would ever come of it. */
const endingIn = ({ state }: BootstrapRecord, ending: Ending): Ending =>
  ending.state === 'client' && state !== 'running' ? { state: 'cancelled' } : ending;

/** Without the caller's machine nothing is due: the lease stays, so that it can be woken, and nobody holds it. */
function leaseWrite({ bootstrapId, instance }: EndParts, ending: Ending, version: string): Write {
  const lease = { collection: collections.leases, id: leaseId(bootstrapId, instance), version };
  if (ending.state !== 'client') return { kind: 'delete', ...lease };
  const data: Partial<LeaseRecord> = {
    state: 'client',
    holder: undefined,
    expiresAt: undefined,
    dueAt: undefined,
    note: ending.note,
  };
  return { kind: 'update', ...lease, data };
}

/** What ended begins again at once, in a new generation: its undo. One write, as a document may be written once a commit. */
function newLeaseWrite(
  { bootstrapId, instance }: EndParts,
  version: string,
  before: LeaseRecord,
  next: LeaseRecord,
): Write {
  const gone = Object.keys(before).filter((field) => !(field in next));
  const data = { ...next, ...Object.fromEntries(gone.map((field) => [field, undefined])) };
  return { kind: 'update', collection: collections.leases, id: leaseId(bootstrapId, instance), version, data };
}
