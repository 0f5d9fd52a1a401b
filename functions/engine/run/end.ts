/**
 * Writes the end of an instance. One commit removes its lease, updates the bootstrap's record and makes the leases of what
 * became ready. Those may go on in this invocation (onward.ts). The others are published. Instances that wait for the
 * same record share one commit.
 */

import type { StepMessage } from '../../../shared/bootstrap/message.js';
import { collections } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import { afterConflict } from '../../store/retry.js';
import { Conflict, type Version, type Write } from '../../store/store.js';
import { type Outcome, type Turn, togetherInTurn } from '../../store/turns.js';
import type { Instance, Plan } from '../plan.js';
import { callerSecret } from '../record/caller-secret.js';
import type { StoredBootstrap } from '../record/documents.js';
import { type BootstrapRecord, type LeaseRecord, leaseId } from '../record/documents.js';
import { durationWrites } from '../record/durations.js';
import { lastWrites } from '../record/last-writes.js';
import { removeLogs } from '../record/log.js';
import { planOfRecord } from '../record/plan-of-record.js';
import { tellQuarantine } from '../record/quarantine.js';
import { removalPlanOf } from '../record/removal-plan.js';
import { endInstance, type Resolution, readyLease, type Transition, transitionWrites } from '../record/transition.js';
import { getBootstrap } from '../record/update.js';
import type { Invocation } from './invocation.js';
import { type Claiming, LeaseLost } from './lease.js';
import { publishReady } from './publish.js';
import type { RunResult } from './result.js';
import { shownResolution } from './shown.js';
import { endStepSpan } from './step-span.js';
import { withUnfinished } from './unfinished.js';

interface Ready {
  readonly generation: number;
  readonly instances: readonly Instance[];
}

const commitTries = 40;
/** Others have probably changed an older record. Reading it again costs less than a lost race. */
const freshMilliseconds = 500;
/** From one commit to the next, those that end are gathered. A commit that takes longer has gathered them by then. */
const betweenCommitsMilliseconds = 25;
/** The same while the store refuses a second write within a second, as Firestore may. */
const betweenSlowCommitsMilliseconds = 1000;
/** So long it is expected to do so again. */
const slowMilliseconds = 10_000;

/** An instance of this process that is to end. */
interface Ending {
  readonly invocation: Invocation;
  readonly resolution: Resolution;
}

/** Throws LeaseLost if the instance is no longer ours to end. */
export async function end(invocation: Invocation, resolved: Resolution): Promise<RunResult> {
  const { context, message, held, span, redactor } = invocation;
  const { bootstrapId, instance } = message;
  const shown = shownResolution(resolved, redactor);
  const resolution = shown.state === 'failed' ? ((await withUnfinished(invocation, shown)) ?? shown) : shown;
  // Logs go before the last commit, because one commit may not delete them all. A function that is cut off in between does it
  // again.
  if (instance === callerSecret.name && resolution.state === 'gone') await removeLogs(context.store, bootstrapId);
  const ending: Ending = { invocation, resolution };
  const ready = await togetherInTurn<Ending, Ready, Left>(context.store, bootstrapId, ending, {
    gather: async ({ latest }) => {
      if (latest?.seen === undefined) return;
      const now = context.clock.now().getTime();
      const next =
        now < latest.slowUntil
          ? latest.seen.atMilliseconds + betweenSlowCommitsMilliseconds
          : latest.sentAt + betweenCommitsMilliseconds;
      const milliseconds = next - now;
      if (milliseconds > 0) await context.clock.pause(milliseconds / 1000);
    },
    work: writeEnds,
  });
  await publishReady(context, bootstrapId, ready.generation, ready.instances, span);
  if (resolution.state === 'failed') endStepSpan(span, held.current(), resolution.state, resolution.problem.code);
  return resolution.state;
}

/** One that is still ours to end, with the version of its lease. */
interface Open {
  readonly ending: Ending;
  readonly version: Version;
}
type Outcomes = Map<Ending, Outcome<Ready>>;

/** Ends them with one commit. If the store does not take that, each is written by itself, so that only the faulty one fails. */
async function writeEnds(endings: readonly Ending[], turn: Turn<Left>): Promise<readonly Outcome<Ready>[]> {
  try {
    return await writeTogether(endings, turn);
  } catch (error) {
    if (endings.length === 1 || isOfNone(error)) throw error;
    const outcomes: Outcome<Ready>[] = [];
    for (const ending of endings) {
      const alone = writeTogether([ending], turn).catch((own: unknown): Outcome<Ready>[] => [{ error: own }]);
      outcomes.push(...(await alone));
    }
    return outcomes;
  }
}

/** A lost race, or a store that cannot be reached: no one of them is at fault. */
const isOfNone = (error: unknown): boolean =>
  error instanceof Conflict || (error instanceof Problem && error.code === 'unavailable');

async function writeTogether(endings: readonly Ending[], turn: Turn<Left>): Promise<readonly Outcome<Ready>[]> {
  const { context, message } = (endings[0] as Ending).invocation;
  const outcomes: Outcomes = new Map();
  let { seen: left, slowUntil, sentAt } = turn.latest ?? { seen: undefined, slowUntil: 0, sentAt: 0 };
  const seen = newest([...endings.map(({ invocation }) => invocation), ...(left === undefined ? [] : [left])]);
  const now = (): number => context.clock.now().getTime();
  const isOld = now() - seen.atMilliseconds > freshMilliseconds;
  let bootstrap = isOld ? await getBootstrap(context, message.bootstrapId) : seen.bootstrap;
  let open = await openOf(endings, bootstrap, outcomes, ({ invocation: { held } }) => held.stop());
  for (let attempt = 0; bootstrap !== undefined && open.length > 0; attempt++) {
    const { version } = bootstrap;
    try {
      sentAt = now();
      const { after, ready, refusals } = await commitEnds(open, bootstrap);
      left = { bootstrap: after, atMilliseconds: now() };
      if (refusals > 0) slowUntil = now() + slowMilliseconds;
      turn.latest = { seen: left, slowUntil, sentAt };
      // The end of a cancelled bootstrap may have begun its removal, in a new generation.
      const { generation } = after.data;
      for (const { ending } of open) {
        const instances = ready.get(ending);
        outcomes.set(
          ending,
          instances === undefined ? { error: goneOn(ending) } : { value: { generation, instances } },
        );
      }
      break;
    } catch (error) {
      turn.latest = { seen: undefined, slowUntil, sentAt };
      if (!(error instanceof Conflict) || attempt >= commitTries) throw error;
      await afterConflict(context, attempt);
      bootstrap = await getBootstrap(context, message.bootstrapId);
      const tried = open;
      const again = tried.map(({ ending }) => ending);
      open = await openOf(again, bootstrap, outcomes, (ending, current) => ourVersion(ending.invocation, current));
      // Nobody has written the record or a lease meanwhile: the store does not take it so soon.
      const isAsBefore = bootstrap?.version === version && open.length === tried.length && open.every(isIn(tried));
      if (isAsBefore) slowUntil = now() + slowMilliseconds;
    }
  }
  return endings.map((ending) => outcomes.get(ending) as Outcome<Ready>);
}

/** A new generation has begun. No instance of before may end in it. */
const goneOn = ({ invocation: { message } }: Ending): LeaseLost => new LeaseLost(`${message.bootstrapId} has gone on`);

/** A record, and when this process knew it to be the current one, by its own clock. */
type Seen = Pick<Invocation, 'bootstrap' | 'atMilliseconds'>;

const isIn =
  (others: readonly Open[]) =>
  ({ ending, version }: Open): boolean =>
    others.some((other) => other.ending === ending && other.version === version);

/** What the writers of a record leave to the next one of this process. */
interface Left {
  readonly seen: Seen | undefined;
  /** When the last commit was sent. */
  readonly sentAt: number;
  /** Until then the store is expected to refuse quick writes. */
  readonly slowUntil: number;
}

const newest = (seen: readonly Seen[]): Seen =>
  seen.reduce((left, read) => {
    const [a, b] = [read.bootstrap.data, left.bootstrap.data];
    const isNewer = a.generation > b.generation || (a.generation === b.generation && a.events > b.events);
    return isNewer ? read : left;
  });

/** Those that are still ours. What became of the others is put among the outcomes. */
async function openOf(
  endings: readonly Ending[],
  bootstrap: StoredBootstrap | undefined,
  outcomes: Outcomes,
  versionOf: (ending: Ending, bootstrap: StoredBootstrap) => Promise<Version | undefined>,
): Promise<Open[]> {
  const open = await Promise.all(
    endings.map(async (ending): Promise<Open | undefined> => {
      const { invocation } = ending;
      try {
        if (bootstrap?.data.generation !== invocation.message.generation) throw goneOn(ending);
        const version = await versionOf(ending, bootstrap);
        if (version !== undefined) return { ending, version };
        outcomes.set(ending, { value: readyNow(invocation, bootstrap) });
      } catch (error) {
        outcomes.set(ending, { error });
      }
      return undefined;
    }),
  );
  return open.flatMap((each) => each ?? []);
}

/** Undefined: our commit did go through, and only its answer was lost. */
async function ourVersion(
  { held, message: { instance } }: Invocation,
  { data }: StoredBootstrap,
): Promise<Version | undefined> {
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

interface Ended {
  readonly after: StoredBootstrap;
  /** Those that were ended, with the instances that each made ready and that get a message. */
  readonly ready: ReadonlyMap<Ending, readonly Instance[]>;
  /** So often the store could not take it before. */
  readonly refusals: number;
}

/** What one of them makes of the record that the ones before it left. */
interface Part extends Open {
  readonly resolution: Resolution;
  readonly transition: Transition;
}

function partsOf(open: readonly Open[], bootstrap: StoredBootstrap, plan: Plan, at: string): Part[] {
  const parts: Part[] = [];
  let record = bootstrap.data;
  for (const each of open) {
    if (record.generation !== bootstrap.data.generation) break;
    const { held, message, calls } = each.ending.invocation;
    const { startedAt, failures } = held.current();
    const attempt = Object.values(failures).reduce((sum, count) => sum + count, 0);
    const resolution = resolutionIn(record, each.ending.resolution);
    const transition = endInstance(record, plan, { id: message.instance, resolution, at, startedAt, attempt, calls });
    record = transition.record;
    parts.push({ ...each, resolution, transition });
  }
  return parts;
}

/** Each invocation goes on with what it made ready itself, and then with what others have no time for. */
function onwardOf(parts: readonly Part[], created: readonly Instance[]): (readonly [Part, Instance])[] {
  const chosen: (readonly [Part, Instance])[] = [];
  const isFree = (each: Instance) => created.includes(each) && !chosen.some(([, { id }]) => id === each.id);
  for (const poolOf of [({ transition }: Part) => transition.ready, () => created]) {
    for (const part of parts) {
      const { onward, held } = part.ending.invocation;
      const own = chosen.filter(([by]) => by === part);
      const next = onward.choose(poolOf(part).filter(isFree), held.current().lane, own.length);
      chosen.push(...next.map((instance) => [part, instance] as const));
    }
  }
  return chosen;
}

async function commitEnds(open: readonly Open[], bootstrap: StoredBootstrap): Promise<Ended> {
  const { context, steps, message } = (open[0] as Open).ending.invocation;
  const { bootstrapId } = message;
  const at = context.clock.now().toISOString();
  const plan = planOfRecord(steps, bootstrap.data);
  const parts = partsOf(open, bootstrap, plan, at);
  const last = parts.at(-1) as Part;
  const { record } = last.transition;
  const events = parts.flatMap(({ transition }) => transition.events);
  const ready = parts.flatMap(({ transition }) => transition.ready);
  const ended = new Set(parts.map(({ ending }) => ending.invocation.message.instance));
  const created = ready.filter(({ id }) => !ended.has(id));
  const claims = onwardOf(parts, created).map(([{ ending }, instance]) => {
    const { onward } = ending.invocation;
    return { onward, instance, claiming: onward.claiming(readyLease(bootstrapId, record.generation, instance, at)) };
  });
  const next = new Set(claims.map(({ instance }) => instance));
  const told = { record, events, ready: created.filter((each) => !next.has(each)) };
  const writes = [
    ...transitionWrites(bootstrapId, bootstrap.version, bootstrap.data, told, at),
    ...parts.map((part) => leaseWrite(part, record.generation, ready, at)),
  ];
  const claimedAt = writes.length;
  writes.push(...claims.map(({ claiming }) => claimed(claiming)), ...durationWrites(bootstrapId, record, plan));
  if (record.state === 'removed') writes.push(...(await lastWrites(context, bootstrapId, record)));
  let refusals = 0;
  const onRetry = (): void => {
    refusals += 1;
  };
  const versions = await context.store.commit(writes, { onRetry });
  const data = { ...record, events: bootstrap.data.events + events.length };
  const after = { ...bootstrap, version: versions[0] ?? '', data };
  // Nothing can end after the one that quarantines.
  tellQuarantine(last.ending.invocation.context.log, bootstrap.data, data);
  for (const [i, { onward, instance, claiming }] of claims.entries()) {
    onward.take(instance, claiming, versions[claimedAt + i] ?? '', after);
  }
  const rest = (part: Part) => part.transition.ready.filter((each) => !next.has(each));
  return { after, ready: new Map(parts.map((part) => [part.ending, rest(part)])), refusals };
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
function leaseWrite(
  { ending, version, resolution }: Part,
  generation: number,
  ready: readonly Instance[],
  at: string,
): Write {
  const { message, held } = ending.invocation;
  const { bootstrapId, instance } = message;
  const again = ready.find(({ id }) => id === instance);
  if (again !== undefined) {
    return newLeaseWrite(message, version, held.current(), readyLease(bootstrapId, generation, again, at));
  }
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
 * The ended instance begins again at once, such as its undo in a new generation. It is one write, because a commit may write a
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
