/**
 * Handles one message for one instance: claim its lease → observe → run → observe → commit → publish what became ready. It goes
 * on with those that became ready. A message is only a hint, so lost, late, double and reordered messages change nothing.
 */
import type { StepMessage } from '../../../shared/bootstrap/message.js';
import { collections } from '../../../shared/names.js';
import type { Trace } from '../../../shared/trace.js';
import type { Context } from '../../context.js';
import { withRedactor } from '../../host/redaction.js';
import type { Document } from '../../store/store.js';
import { type Instance, unmetNeeds } from '../plan.js';
import {
  type LeaseRecord,
  leaseId,
  liftBootstrap,
  liftLease,
  read,
  type StoredBootstrap,
} from '../record/documents.js';
import type { AnyStep, BootstrapFacts } from '../step.js';
import { createCall } from './call.js';
import { end } from './end.js';
import { factsOf } from './facts.js';
import { afterFailure, fail, faultOfOurs } from './fail.js';
import { endCancelled, handOver, longestWaitSeconds, pause } from './hand-over.js';
import { createInvocation, type Invocation } from './invocation.js';
import { claim, type Held, LeaseLost, type LeaseTimes, leaseTimes } from './lease.js';
import { endless } from './patience.js';
import type { RunResult } from './result.js';
import { beginStepSpan, endStepSpan } from './step-span.js';
import { makeTurn, makeUndoTurn, type Turn } from './turn.js';

export interface RunOptions {
  /** When the platform stops the function. */
  readonly deadlineAt: Date;
  /** The message's trace. */
  readonly trace?: Trace | undefined;
  readonly times?: Partial<LeaseTimes>;
  /** Told how each instance ended here, and after how long: the message's, and those that the invocation went on with. */
  readonly onEnd?: (instance: string, result: RunResult, seconds: number) => void;
}

/** A step that kills its function this often, with no turn that ends in between, fails for good. */
const maxDeaths = 5;

/** Returns how the message's instance ended. */
export async function runMessage(
  context: Context,
  steps: readonly AnyStep[],
  message: StepMessage,
  options: RunOptions,
): Promise<RunResult> {
  const { onEnd = () => undefined } = options;
  const times = { ...leaseTimes, ...options.times };
  const milliseconds = (): number => context.clock.now().getTime();
  const tell = (instance: string, result: RunResult, since: number): RunResult => {
    onEnd(instance, result, (milliseconds() - since) / 1000);
    return result;
  };
  const beganAt = milliseconds();
  const found = await find(context, message);
  if (typeof found === 'string') return tell(message.instance, found, beganAt);
  const { lease, bootstrap, restSeconds } = found;
  const held = await claim(context, lease, times);
  if (held === undefined) return tell(message.instance, 'busy', beganAt);
  const goOn = async (work: Work, since = milliseconds()): Promise<RunResult> => {
    const { result, next } = await runHeld(context, steps, work, { deadlineAt: options.deadlineAt, times });
    tell(work.message.instance, result, since);
    // A function gets no time once it has answered, so none is left behind when another one throws.
    const results = await Promise.allSettled(next.map((each) => goOn(each)));
    for (const each of results) if (each.status === 'rejected') throw each.reason;
    return result;
  };
  return goOn({ message, bootstrap, held, restSeconds, trace: options.trace }, beganAt);
}

/** An instance whose lease is ours. */
interface Work {
  readonly message: StepMessage;
  readonly bootstrap: StoredBootstrap;
  readonly held: Held;
  readonly restSeconds: number;
  readonly trace: Trace | undefined;
}

async function runHeld(
  context: Context,
  steps: readonly AnyStep[],
  { message, bootstrap, held, restSeconds, trace }: Work,
  { deadlineAt, times }: { readonly deadlineAt: Date; readonly times: LeaseTimes },
): Promise<{ readonly result: RunResult; readonly next: readonly Work[] }> {
  const span = await beginStepSpan(context, bootstrap.data, message, trace);
  const invocation = createInvocation(context, { steps, message, bootstrap, held, span }, deadlineAt, times);
  try {
    const result = await withRedactor(invocation.redactor, () => run(invocation, restSeconds));
    endStepSpan(span, held.current(), result);
    return { result, next: onwardWork(invocation) };
  } catch (error) {
    await Promise.all(invocation.onward.taken().map((each) => each.held.stop()));
    const lost = error instanceof LeaseLost;
    endStepSpan(span, held.current(), lost ? 'lost' : 'broken off', lost ? undefined : 'internal');
    if (lost) return { result: 'lost', next: [] };
    throw error;
  } finally {
    invocation.deadline.close();
    await held.stop().catch(() => undefined);
  }
}

const onwardWork = ({ onward, message, span }: Invocation): Work[] =>
  onward.taken().map(({ instance, held, bootstrap }) => {
    const { generation } = bootstrap.data;
    return { message: { ...message, instance, generation }, bootstrap, held, restSeconds: 0, trace: span };
  });

interface Found {
  readonly lease: Document<LeaseRecord>;
  readonly bootstrap: StoredBootstrap;
  /** Seconds until it is due. */
  readonly restSeconds: number;
}

/**
 * Finds what the message refers to, unless it no longer means anything. The lease is read first: a person's change writes both in
 * one commit, so a record that is read later is never older than the lease that is claimed.
 */
async function find({ store, clock }: Context, message: StepMessage): Promise<Found | 'ignored' | 'busy'> {
  const { bootstrapId, instance } = message;
  const lease = read(await store.get(collections.leases, leaseId(bootstrapId, instance)), liftLease);
  const bootstrap = read(await store.get(collections.bootstraps, bootstrapId), liftBootstrap);
  if (lease === undefined || bootstrap === undefined) return 'ignored';
  const { data } = lease;
  if (data.generation !== message.generation || data.generation !== bootstrap.data.generation) return 'ignored';
  if (data.state === 'client') return 'ignored';
  const restSeconds = (Date.parse(data.notBefore ?? '') - clock.now().getTime()) / 1000 || 0;
  if (restSeconds > longestWaitSeconds) return 'ignored';
  if (data.state === 'running' && (data.expiresAt ?? '') > clock.now().toISOString()) return 'busy';
  return { lease, bootstrap, restSeconds };
}

async function run(invocation: Invocation, restSeconds: number): Promise<RunResult> {
  const { context, message, bootstrap, plan, held, deadline, removing } = invocation;
  const instance = plan.get(message.instance);
  if (instance === undefined) {
    context.log('WARNING', 'The instance is no longer part of the plan');
    return end(invocation, { state: 'cancelled' });
  }
  const { deaths, cancel } = held.current();
  if (bootstrap.data.state === 'cancelling' || cancel) return endCancelled(invocation);
  if (deaths >= maxDeaths) {
    context.log('ERROR', `The function ended ${maxDeaths} times while it ran this instance`);
    return fail(invocation, faultOfOurs(instance, invocation));
  }
  if (restSeconds > 0) {
    const wait = { seconds: restSeconds, waited: held.current().waited };
    if (deadline.secondsLeft() < restSeconds) return handOver(invocation, wait, false);
    const ended = await pause(invocation, wait);
    if (ended !== undefined) return ended;
  }
  const isUnmet = !removing && unmetNeeds(instance, (id) => bootstrap.data.instances[id]?.output).length > 0;
  if (isUnmet)
    return end(invocation, { state: 'waiting', recheck: [], note: 'waiting for what this release makes first' });
  const facts = await factsOf(context, message.bootstrapId, bootstrap.data);
  return turns(invocation, instance, facts);
}

/** Takes turns until one of them ends the instance or this invocation. */
async function turns(invocation: Invocation, instance: Instance, facts: BootstrapFacts): Promise<RunResult> {
  const { context, held, removing } = invocation;
  let { waited } = held.current();
  for (;;) {
    const beganAt = context.clock.now();
    const tried = await tryTurn(invocation, instance, facts);
    // Whoever died or was too slow before, it was not this step that killed them.
    if (held.current().deaths > 0) held.tell({ deaths: 0 });
    if ('error' in tried) {
      const ended = await afterFailure(invocation, instance, tried.error, waited);
      if (ended !== undefined) return ended;
      continue;
    }
    const { turn } = tried;
    if (turn.state !== 'again') return end(invocation, turn);
    const lookedSeconds = (context.clock.now().getTime() - beganAt.getTime()) / 1000;
    const { seconds = 0, since = beganAt.toISOString() } = waited ?? {};
    const problem = endless(instance, turn, { seconds: seconds + lookedSeconds, since }, removing);
    if (problem !== undefined) return fail(invocation, problem);
    waited = { seconds: seconds + lookedSeconds + turn.seconds, since };
    const change = { note: turn.note, retry: undefined };
    const ended = await pause(invocation, { seconds: turn.seconds, waited, change, ended: turn.ended });
    if (ended !== undefined) return ended;
  }
}

async function tryTurn(
  { context, bootstrap: { data: record }, held, removing, signal, redactor }: Invocation,
  instance: Instance,
  facts: BootstrapFacts,
): Promise<{ readonly turn: Turn } | { readonly error: unknown }> {
  try {
    const attempt = Object.values(held.current().failures).reduce((sum, each) => sum + each, 0);
    const call = createCall({ context, facts, record, instance, attempt, signal, lost: held.signal, redactor });
    const parts = { instance, call, record };
    return { turn: await (removing ? makeUndoTurn(parts) : makeTurn(parts)) };
  } catch (error) {
    return { error };
  }
}
