/**
 * What a bootstrap becomes when an instance ends or a person acts: its new record, the ready instances, and the events. Pure.
 */
import type { BootstrapState, StoredProblem } from '../../../shared/bootstrap/bootstrap.js';
import type { BootstrapEvent } from '../../../shared/bootstrap/event.js';
import { calledBy } from '../../../shared/command-words.js';
import { collections } from '../../../shared/names.js';
import type { Write } from '../../store/store.js';
import { type Instance, type Plan, readyIn, titleOf } from '../plan.js';
import { latestWarnings, withPause } from './bounded.js';
import {
  type BootstrapRecord,
  type CallRecord,
  type EventRecord,
  eventId,
  type InstanceRecord,
  type LeaseRecord,
  leaseId,
} from './documents.js';
import { removalPlanOf } from './removal-plan.js';

/** What a lease needs to know of an instance. `cancel`: it does not run, and what there is of it is looked at. */
export type Leased = Pick<Instance, 'id' | 'lane'> & { readonly cancel?: boolean };

export interface Transition<I extends Leased = Instance & Leased> {
  readonly record: BootstrapRecord;
  /** Leased in the same commit, and published after it. */
  readonly ready: readonly I[];
  readonly events: readonly { readonly event: BootstrapEvent; readonly calls?: readonly CallRecord[] }[];
}

/** What the last look at what costs money saw of it. Missing: nobody could look, so what was known stays. */
interface Looked {
  readonly looked?: { readonly unfinished: unknown };
}

export type Resolution =
  | {
      readonly state: 'done';
      readonly output: unknown;
      readonly note?: string | undefined;
      readonly warning?: string | undefined;
    }
  | ({ readonly state: 'failed'; readonly problem: StoredProblem } & Looked)
  | ({ readonly state: 'cancelled' } & Looked)
  | { readonly state: 'gone'; readonly note?: string | undefined }
  /** Not an end: it goes on only when the caller's machine has acted. */
  | { readonly state: 'client'; readonly note: string }
  /** Not an end: it waits until these needed instances have been looked at again. */
  | { readonly state: 'waiting'; readonly recheck: readonly string[]; readonly note: string };

interface Ended {
  readonly id: string;
  readonly resolution: Resolution;
  readonly at: string;
  readonly startedAt?: string | undefined;
  readonly attempt: number;
  readonly calls?: readonly CallRecord[];
}

/** Events are kept this long after the deadline, and records this long after the removal. */
const keptDays = 90;
const secondsADay = 86_400;

const after = (time: string, seconds: number): string => new Date(Date.parse(time) + seconds * 1000).toISOString();

/** Ends one instance of a bootstrap. */
export function endInstance(before: BootstrapRecord, plan: Plan, ended: Ended): Transition {
  const { id, resolution, at, startedAt, calls } = ended;
  const instances = { ...before.instances, [id]: recordOf(before.instances[id], ended) };
  for (const need of resolution.state === 'waiting' ? resolution.recheck : []) {
    // Another instance may have sent it back already. Then it is not done.
    if (instances[need]?.state === 'done')
      instances[need] = { state: 'waiting', attempt: 0, ...keptOf(instances[need]) };
  }
  const seconds = startedAt === undefined ? undefined : (Date.parse(at) - Date.parse(startedAt)) / 1000;
  const event: BootstrapEvent = {
    schema: 1,
    type: 'instance',
    at,
    instance: id,
    state: resolution.state,
    ...(seconds === undefined ? {} : { seconds }),
    ...('note' in resolution && resolution.note !== undefined ? { note: resolution.note } : {}),
    ...(resolution.state === 'failed' ? { problem: resolution.problem } : {}),
  };
  const told = { event, ...(calls === undefined || calls.length === 0 ? {} : { calls }) };
  const warned = resolution.state === 'done' && resolution.warning !== undefined ? [resolution.warning] : [];
  const warnings = latestWarnings(before.warnings, warned);
  return advance({ ...before, instances, warnings, ...fuseOf(before, ended), ...pausesOf(before, ended) }, plan, at, [
    told,
  ]);
}

/** A VM may be another one than was admitted, such as a standard one for want of spot capacity. */
const fuseOf = ({ price }: BootstrapRecord, { id, resolution, at }: Ended): Pick<BootstrapRecord, 'fuseAt'> =>
  price !== undefined && id.startsWith('vm:') && resolution.state === 'done' ? { fuseAt: at } : {};

/** A VM that was seen stopped costs no machine from now on. */
function pausesOf({ pauses = [] }: BootstrapRecord, { id, resolution, at }: Ended): Pick<BootstrapRecord, 'pauses'> {
  if (!id.startsWith('vm:') || resolution.state !== 'done') return {};
  if ((resolution.output as { stopped?: unknown }).stopped !== true) return {};
  const vm = id.slice('vm:'.length);
  const isOpen = pauses.some((pause) => pause.vm === vm && pause.until === undefined);
  return isOpen ? {} : { pauses: withPause(pauses, { vm, from: at }) };
}

function recordOf(before: InstanceRecord | undefined, { resolution, at, startedAt, attempt }: Ended): InstanceRecord {
  return {
    state: resolution.state,
    attempt,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(resolution.state === 'client' || resolution.state === 'waiting' ? {} : { endedAt: at }),
    ...(resolution.state === 'waiting' ? { rechecks: (before?.rechecks ?? 0) + 1 } : {}),
    ...('note' in resolution && resolution.note !== undefined ? { note: resolution.note } : {}),
    ...(resolution.state === 'failed' ? { problem: resolution.problem } : {}),
    ...(resolution.state === 'done' ? { output: resolution.output } : keptOf(lookedAt(before, resolution))),
  };
}

type Kept = Pick<InstanceRecord, 'output' | 'unfinished'>;

const lookedAt = (before: Kept | undefined, resolution: Resolution): Kept | undefined =>
  'looked' in resolution ? { ...outputOf(before), ...resolution.looked } : before;

const outputOf = (record: Kept | undefined): Pick<Kept, 'output'> =>
  record?.output === undefined ? {} : { output: record.output };

/** What an instance keeps of before while it is looked at again. */
export const keptOf = (record: Kept | undefined): Kept => ({
  ...outputOf(record),
  ...(record?.unfinished === undefined ? {} : { unfinished: record.unfinished }),
});

/** Marks what is ready now. Ends the bootstrap if nothing can go on. */
export function advance(before: BootstrapRecord, plan: Plan, at: string, told: Transition['events'] = []): Transition {
  if (before.state === 'removing') return advanceRemoval(before, removalPlanOf(plan), at, told);
  const ready = before.state === 'running' ? readyIn(plan, before.instances) : [];
  const instances = marked(before.instances, ready);
  const open = Object.values(instances).some(({ state }) => state === 'ready' || state === 'client');
  const record: BootstrapRecord = { ...before, instances };
  if (open || (before.state !== 'running' && before.state !== 'cancelling')) return { record, ready, events: told };
  const unseen = [...plan.values()].filter(({ id }) => instances[id]?.state === 'waiting' && instances[id]?.cutOff);
  if (before.state === 'running' && unseen.length > 0) {
    const looks = unseen.map((instance) => ({ ...instance, cancel: true }));
    return { record: { ...before, instances: marked(instances, unseen) }, ready: looks, events: told };
  }

  const state = endState(before.state, plan, instances);
  const problem = problemIn(plan, instances, 'Run the same command again: it goes on from here.');
  const event = stateEvent(before, at, state, state === 'failed' ? problem : undefined);
  // A bootstrap that had ended before the removal request does not end a second time.
  const events = before.endedAt === undefined ? [...told, { event }] : told;
  if (before.removal !== undefined) return startRemoval(record, plan, at, events);
  return {
    record: {
      ...record,
      state,
      endedAt: at,
      ...(state === 'failed' && problem !== undefined ? { problem } : {}),
      ...(state === 'succeeded-with-warnings' && problem !== undefined
        ? { warnings: latestWarnings(before.warnings, [[problem.detail, problem.advice].join(' ')]) }
        : {}),
    },
    ready,
    events,
  };
}

const marked = (before: BootstrapRecord['instances'], ready: readonly Instance[]): BootstrapRecord['instances'] => {
  const instances = { ...before };
  for (const { id } of ready) {
    const { rechecks } = before[id] ?? {};
    const kept = rechecks === undefined ? {} : { rechecks };
    instances[id] = { state: 'ready', attempt: 0, ...keptOf(before[id]), ...kept };
  }
  return instances;
};

/** Instances that have been seen, or are about to be, are looked at again. What was seen of them stays until then. */
export const readyAgain = (
  before: BootstrapRecord['instances'],
  again: readonly string[],
): BootstrapRecord['instances'] => ({
  ...before,
  ...Object.fromEntries(again.map((id) => [id, { state: 'ready', attempt: 0, ...keptOf(before[id]) } as const])),
});

const stateEvent = (
  { generation }: BootstrapRecord,
  at: string,
  state: BootstrapState,
  problem?: StoredProblem,
): BootstrapEvent => ({
  schema: 1,
  type: 'state',
  at,
  state,
  generation,
  ...(problem === undefined ? {} : { problem }),
});

/* Removal */

/** Cleanup looks again at a removal that broke off in a way that sweep cannot heal. */
export const watchSeconds = 3600;
/** Seconds before the next try, by failures in a row. */
const retrySeconds = [300, 1200] as const;
/** Then it is quarantined: what three tries could not do needs a person. */
const maxFailures = retrySeconds.length + 1;

/** The first change of the generation that removes. From then on nothing else of the bootstrap may run. */
export function startRemoval(
  before: BootstrapRecord,
  plan: Plan,
  at: string,
  told: Transition['events'] = [],
): Transition {
  const { endedAt, problem, expireAt, ...kept } = before;
  const instances = { ...before.instances };
  for (const id of removalPlanOf(plan).keys()) {
    // A retry goes on from where the last try stopped.
    if (before.instances[id]?.state === 'gone') continue;
    instances[id] = { state: 'waiting', attempt: 0, ...outputOf(before.instances[id]) };
  }
  const record: BootstrapRecord = {
    ...kept,
    state: 'removing',
    generation: before.generation + 1,
    removeAt: after(at, watchSeconds),
    instances,
  };
  return advance(record, plan, at, [...told, { event: stateEvent(record, at, 'removing') }]);
}

function advanceRemoval(before: BootstrapRecord, plan: Plan, at: string, told: Transition['events']): Transition {
  const ready = readyIn(plan, before.instances, 'gone');
  const instances = marked(before.instances, ready);
  const record: BootstrapRecord = { ...before, instances };
  const states = [...plan.keys()].map((id) => instances[id]?.state);
  if (states.includes('ready')) return { record, ready, events: told };
  const { removeAt, removal, ...rest } = record;
  if (states.every((state) => state === 'gone')) {
    const event = stateEvent(before, at, 'removed');
    const expireAt = after(at, keptDays * secondsADay);
    return { record: { ...rest, state: 'removed', endedAt: at, expireAt }, ready, events: [...told, { event }] };
  }
  const failures = (removal?.failures ?? 0) + 1;
  const quarantined = failures >= maxFailures;
  const advice = quarantined
    ? `It is left alone now. Heal the cause, then have an operator run plinth beta bootstrap-cloud cleanup ${calledBy(before)}`
    : 'It is tried again by itself.';
  const problem = problemIn(plan, instances, advice);
  return {
    record: {
      ...rest,
      state: 'removal-failed',
      endedAt: at,
      ...(quarantined ? {} : { removeAt: after(at, retrySeconds[failures - 1] ?? watchSeconds) }),
      removal: {
        ...(removal ?? { requestedAt: at, by: 'cleanup', why: 'expired' }),
        failures,
        ...(quarantined ? { quarantinedAt: at } : {}),
      },
      ...(problem === undefined ? {} : { problem }),
    },
    ready,
    events: [...told, { event: stateEvent(before, at, 'removal-failed', problem) }],
  };
}

function endState(before: BootstrapState, plan: Plan, instances: BootstrapRecord['instances']): BootstrapState {
  if (before === 'cancelling') return 'cancelled';
  const undone = [...plan.values()].filter(({ id }) => instances[id]?.state !== 'done');
  if (undone.length === 0) return 'succeeded';
  return undone.every(({ step }) => step.mayFail) ? 'succeeded-with-warnings' : 'failed';
}

/** The first failure in plan order, with the titles of the others. */
function problemIn(plan: Plan, instances: BootstrapRecord['instances'], advice: string): StoredProblem | undefined {
  const failed = [...plan.values()].flatMap((instance) => {
    const problem = instances[instance.id]?.problem;
    return problem === undefined ? [] : [{ title: titleOf(instance), problem }];
  });
  const first = failed[0];
  if (first === undefined) return undefined;
  const others = failed.slice(1).map(({ title }) => title);
  const more = others.length === 0 ? '' : ` ${others.length} more failed: ${others.join(', ')}.`;
  return {
    code: first.problem.code,
    detail: `${first.title} failed: ${first.problem.detail}${more}`,
    advice: first.problem.advice ?? advice,
    ...(first.problem.members === undefined ? {} : { members: first.problem.members }),
  };
}

/** How long a message may take before sweep sends another. */
export const publishGraceSeconds = 30;

export const readyLease = (
  bootstrapId: string,
  generation: number,
  { id, lane, cancel }: Leased,
  at: string,
): LeaseRecord => ({
  schema: 1,
  bootstrapId,
  instance: id,
  lane,
  generation,
  state: 'ready',
  number: 0,
  dueAt: after(at, publishGraceSeconds),
  failures: {},
  propagationSeconds: 0,
  deaths: 0,
  ...(cancel === true && { cancel }),
});

/** The writes of the events, numbered from the last one of `before`. */
export function eventWrites(
  bootstrapId: string,
  before: Pick<BootstrapRecord, 'events' | 'deadlineAt'>,
  events: Transition['events'],
): Write[] {
  const expireAt = after(before.deadlineAt, keptDays * secondsADay);
  return events.map(({ event, calls }, i): Write => {
    const n = before.events + 1 + i;
    const data: EventRecord = {
      schema: 1,
      bootstrapId,
      n,
      event,
      ...(calls === undefined ? {} : { calls: [...calls] }),
      expireAt,
    };
    return { kind: 'create', collection: collections.events, id: eventId(bootstrapId, n), data };
  });
}

/** The leases of what became ready. An earlier generation, or a record that is lost, may have left one. */
export const leaseWrites = (bootstrapId: string, generation: number, ready: readonly Leased[], at: string): Write[] =>
  ready.map((instance) => ({
    kind: 'set',
    collection: collections.leases,
    id: leaseId(bootstrapId, instance.id),
    data: readyLease(bootstrapId, generation, instance, at),
  }));

/** All writes of a transition except the lease of the instance that caused it: the record, its events, and the new leases. */
export function transitionWrites(
  bootstrapId: string,
  version: string,
  before: BootstrapRecord,
  { record, ready, events }: Transition<Leased>,
  at: string,
): Write[] {
  const after: BootstrapRecord = { ...record, events: before.events + events.length };
  const gone = Object.keys(before).filter((field) => !(field in after));
  return [
    {
      kind: 'update',
      collection: collections.bootstraps,
      id: bootstrapId,
      version,
      data: { ...after, ...Object.fromEntries(gone.map((field) => [field, undefined])) },
    },
    ...eventWrites(bootstrapId, before, events),
    ...leaseWrites(bootstrapId, record.generation, ready, at),
  ];
}
