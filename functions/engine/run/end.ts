/**
 * Writes the end of an instance. One commit removes its lease, updates the bootstrap's record and makes the leases of what
 * became ready. One of those may go on in this invocation (onward.ts). The others are published.
 */

import type { StepMessage } from '../../../shared/bootstrap/message.js';
import { collections } from '../../../shared/names.js';
import { afterConflict, persist } from '../../store/persist.js';
import { Conflict, type Write } from '../../store/store.js';
import { inTurn } from '../../store/turns.js';
import type { Instance } from '../plan.js';
import { callerSecret } from '../record/caller-secret.js';
import type { StoredBootstrap } from '../record/documents.js';
import { type BootstrapRecord, type LeaseRecord, leaseId, liftBootstrap, read } from '../record/documents.js';
import { durationWrites } from '../record/durations.js';
import { lastWrites } from '../record/last-writes.js';
import { removeLogs } from '../record/log.js';
import { planOfRecord } from '../record/plan-of-record.js';
import { tellQuarantine } from '../record/quarantine.js';
import { removalPlanOf } from '../record/removal-plan.js';
import { endInstance, type Resolution, readyLease, transitionWrites } from '../record/transition.js';
import type { Invocation } from './invocation.js';
import { type Claiming, LeaseLost } from './lease.js';
import { publishReady } from './publish.js';
import type { RunResult } from './result.js';
import { endStepSpan } from './step-span.js';

interface Ready {
  readonly generation: number;
  readonly instances: readonly Instance[];
}

const commitTries = 40;
/** Others have probably changed an older record. Reading it again costs less than a lost race. */
const freshMilliseconds = 500;

/** Throws LeaseLost if the instance is no longer ours to end. */
export async function end(invocation: Invocation, resolution: Resolution): Promise<RunResult> {
  await writeEnd(invocation, resolution);
  if (resolution.state === 'failed') {
    endStepSpan(invocation.span, invocation.held.current(), resolution.state, resolution.problem.code);
  }
  return resolution.state;
}

async function writeEnd(invocation: Invocation, resolution: Resolution): Promise<void> {
  const { context, message, held, span } = invocation;
  const { bootstrapId, instance, generation } = message;
  // Logs go before the last commit, because one commit may not delete them all. A function that is cut off in between does it
  // again.
  if (instance === callerSecret.name && resolution.state === 'gone') await removeLogs(context.store, bootstrapId);
  const ready = await inTurn<Ready, Seen>(context.store, bootstrapId, async (turn) => {
    const seen = newest(invocation, turn.latest);
    let bootstrap = seen.bootstrap;
    if (bootstrap.data.generation !== generation) throw new LeaseLost(`${bootstrapId} has gone on`);
    if (context.clock.now().getTime() - seen.atMilliseconds > freshMilliseconds) bootstrap = await reread(invocation);
    let version = await held.stop();
    for (let attempt = 0; ; attempt++) {
      try {
        const ended = await commitEnd(invocation, resolution, bootstrap, version);
        turn.latest = { bootstrap: ended.bootstrap, atMilliseconds: context.clock.now().getTime() };
        tellQuarantine(context.log, bootstrap.data, ended.bootstrap.data);
        // The end of a cancelled bootstrap may have begun its removal, in a new generation.
        return { generation: ended.bootstrap.data.generation, instances: ended.ready };
      } catch (error) {
        turn.latest = undefined;
        if (!(error instanceof Conflict) || attempt >= commitTries) throw error;
        await afterConflict(attempt);
        bootstrap = await reread(invocation);
        const ours = await ourVersion(invocation, bootstrap);
        if (ours === undefined) return readyNow(invocation, bootstrap);
        version = ours;
      }
    }
  });
  await publishReady(context, bootstrapId, ready.generation, ready.instances, span);
}

/** A record, and when this process knew it to be the current one, by its own clock. */
type Seen = Pick<Invocation, 'bootstrap' | 'atMilliseconds'>;

function newest(read: Seen, left: Seen | undefined): Seen {
  if (left === undefined) return read;
  const [a, b] = [read.bootstrap.data, left.bootstrap.data];
  const isNewer = b.generation > a.generation || (b.generation === a.generation && b.events > a.events);
  return isNewer ? left : read;
}

async function reread({
  context: { store },
  message: { bootstrapId, generation },
}: Invocation): Promise<StoredBootstrap> {
  const now = read(await persist(() => store.get(collections.bootstraps, bootstrapId)), liftBootstrap);
  if (now === undefined || now.data.generation !== generation) throw new LeaseLost(`${bootstrapId} has gone on`);
  return now;
}

/** Undefined: our commit did go through, and only its answer was lost. */
async function ourVersion(
  { held, message: { instance } }: Invocation,
  { data }: StoredBootstrap,
): Promise<string | undefined> {
  try {
    return await held.again();
  } catch (error) {
    if (error instanceof LeaseLost && data.instances[instance]?.endedAt !== undefined) return undefined;
    throw error;
  }
}

function readyNow({ steps }: Invocation, bootstrap: StoredBootstrap): Ready {
  const { generation, state, instances } = bootstrap.data;
  const plan = planOfRecord(steps, bootstrap.data);
  const current = state === 'removing' ? removalPlanOf(plan) : plan;
  return { generation, instances: [...current.values()].filter(({ id }) => instances[id]?.state === 'ready') };
}

async function commitEnd(
  invocation: Invocation,
  resolution: Resolution,
  bootstrap: StoredBootstrap,
  version: string,
): Promise<{ bootstrap: StoredBootstrap; ready: readonly Instance[] }> {
  const { context, steps, held, message, calls } = invocation;
  const { bootstrapId, instance } = message;
  const { store, clock } = context;
  const at = clock.now().toISOString();
  const { startedAt, failures } = held.current();
  const attempt = Object.values(failures).reduce((sum, each) => sum + each, 0);
  const ended = { id: instance, resolution: resolutionIn(bootstrap.data, resolution), at, startedAt, attempt, calls };
  const transition = endInstance(bootstrap.data, planOfRecord(steps, bootstrap.data), ended);
  const again = transition.ready.find(({ id }) => id === instance);
  const lease =
    again === undefined
      ? leaseWrite(message, ended.resolution, version)
      : newLeaseWrite(
          message,
          version,
          held.current(),
          readyLease(bootstrapId, transition.record.generation, again, at),
        );
  const created = transition.ready.filter((each) => each !== again);
  const next = invocation.onward.choose(created, held.current().lane);
  const told = { ...transition, ready: created.filter((each) => each !== next) };
  const claiming = next && invocation.onward.claiming(readyLease(bootstrapId, transition.record.generation, next, at));
  const writes = [
    ...transitionWrites(bootstrapId, bootstrap.version, bootstrap.data, told, at),
    lease,
    ...(claiming === undefined ? [] : [claimed(claiming)]),
  ];
  const claimedAt = writes.length - 1;
  writes.push(...durationWrites(bootstrapId, transition.record, planOfRecord(steps, bootstrap.data)));
  if (transition.record.state === 'removed')
    writes.push(...(await lastWrites(context, bootstrapId, transition.record)));
  const versions = await persist(() => store.commit(writes));
  const events = bootstrap.data.events + transition.events.length;
  const after = { ...bootstrap, version: versions[0] ?? '', data: { ...transition.record, events } };
  if (next !== undefined && claiming !== undefined) {
    invocation.onward.take(next, claiming, versions[claimedAt] ?? '', after);
  }
  return { bootstrap: after, ready: transition.ready.filter((each) => each !== next) };
}

const claimed = ({ data }: Claiming): Write => ({
  kind: 'set',
  collection: collections.leases,
  id: leaseId(data.bootstrapId, data.instance),
  data,
});

/** Once the bootstrap is ending, waiting for the caller's machine would never finish. */
const resolutionIn = ({ state }: BootstrapRecord, resolution: Resolution): Resolution =>
  resolution.state === 'client' && state !== 'running' ? { state: 'cancelled' } : resolution;

/**
 * While only the caller's machine can go on, nothing is due. The lease is kept without a holder, so that the instance can be
 * woken.
 */
function leaseWrite({ bootstrapId, instance }: StepMessage, resolution: Resolution, version: string): Write {
  const lease = { collection: collections.leases, id: leaseId(bootstrapId, instance), version };
  if (resolution.state !== 'client') return { kind: 'delete', ...lease };
  const data: Partial<LeaseRecord> = {
    state: 'client',
    holder: undefined,
    expiresAt: undefined,
    dueAt: undefined,
    note: resolution.note,
  };
  return { kind: 'update', ...lease, data };
}

/**
 * The ended instance begins again at once: its undo, in a new generation. It is one write, because a commit may write a
 * document only once.
 */
function newLeaseWrite(
  { bootstrapId, instance }: StepMessage,
  version: string,
  before: LeaseRecord,
  next: LeaseRecord,
): Write {
  const gone = Object.keys(before).filter((field) => !(field in next));
  const data = { ...next, ...Object.fromEntries(gone.map((field) => [field, undefined])) };
  return { kind: 'update', collection: collections.leases, id: leaseId(bootstrapId, instance), version, data };
}
