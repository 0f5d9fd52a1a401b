/**
 * One message, one instance: claim its lease → observe → run → observe → commit → publish what became ready. A message is only
 * a hint: lost, late, double and reordered ones change nothing. Called by triggers/run-step.ts.
 */

import { addSeconds } from '../../../shared/add-seconds.js';
import type { StoredProblem } from '../../../shared/bootstrap/bootstrap.js';
import type { StepMessage } from '../../../shared/bootstrap/message.js';
import { collections } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Trace } from '../../../shared/trace.js';
import type { OnCall } from '../../cloud/rest.js';
import type { Context } from '../../context.js';
import { createHide } from '../../host/hide.js';
import { redact, withFields } from '../../host/log.js';
import { persist } from '../../store/persist.js';
import { Conflict } from '../../store/store.js';
import { traceFields } from '../../tracing/trace.js';
import type { Span } from '../../tracing/tracing.js';
import { type Instance, titleOf } from '../plan.js';
import {
  type CallRecord,
  type LeaseRecord,
  leaseId,
  liftBootstrap,
  liftLease,
  read,
  type StoredBootstrap,
} from '../record/documents.js';
import { planOfRecord } from '../record/plan-of-record.js';
import { removalPlanOf } from '../record/removal-plan.js';
import type { Ending } from '../record/transition.js';
import type { AnyStep, StepCall } from '../step.js';
import { createCall } from './call.js';
import { endWith } from './end.js';
import { factsOf } from './facts.js';
import { claim, type Held, LeaseLost, type LeaseTimes, leaseTimes } from './lease.js';
import { endless } from './patience.js';
import { publishReady } from './publish.js';
import { remoteWithSpans } from './remote-spans.js';
import { exhausted, failureClass, retryDelay } from './retry.js';
import { beginStepSpan, endStepSpan } from './step-span.js';

export interface RunOptions {
  /** When the function is stopped from outside. */
  readonly deadlineAt: Date;
  /** Of the message. */
  readonly trace?: Trace | undefined;
  readonly times?: Partial<LeaseTimes>;
}

/** `ignored`: the message was late, double or of another generation · `busy`: somebody else holds the lease · `lost`: somebody else took over. */
export type RunResult =
  | 'ignored'
  | 'busy'
  | 'done'
  | 'gone'
  | 'failed'
  | 'cancelled'
  | 'client'
  | 'waiting'
  | 'handed-over'
  | 'lost';

/** Kept free before the function's end to write down where it stands. */
const marginSeconds = 20;
/** A step that takes its function down this often fails for good. */
const maxDeaths = 5;
/** What it needs is sent back to be looked at again this often at most, in one generation. */
const maxRechecks = 5;
const maxCalls = 60;
/** What is further off is left to sweep: a fresh message would only wait, or be handed on again and again. */
const longestWaitSeconds = 300;

interface Again {
  readonly state: 'again';
  readonly seconds: number;
  readonly note: string;
  readonly patienceSeconds?: number | undefined;
}
type Turn = Ending | Again;

export async function runInstance(
  context: Context,
  steps: readonly AnyStep[],
  message: StepMessage,
  options: RunOptions,
): Promise<RunResult> {
  const { store, clock } = context;
  const [leaseFound, bootstrapFound] = await persist(() =>
    Promise.all([
      store.get(collections.leases, leaseId(message.bootstrapId, message.instance)),
      store.get(collections.bootstraps, message.bootstrapId),
    ]),
  );
  const lease = read(leaseFound, liftLease);
  const bootstrap = read(bootstrapFound, liftBootstrap);
  if (lease === undefined || bootstrap === undefined) return 'ignored';
  const { data } = lease;
  if (data.generation !== message.generation || data.generation !== bootstrap.data.generation) return 'ignored';
  if (data.state === 'client') return 'ignored';
  const restSeconds = (Date.parse(data.notBefore ?? '') - clock.now().getTime()) / 1000 || 0;
  if (restSeconds > longestWaitSeconds) return 'ignored';
  if (data.state === 'running' && (data.expiresAt ?? '') > clock.now().toISOString()) return 'busy';

  const held = await claim(context, lease, { ...leaseTimes, ...options.times });
  if (held === undefined) return 'busy';
  const span = await beginStepSpan(context, bootstrap.data, message, options.trace);
  try {
    const result = await createRun(context, steps, message, options, bootstrap, held, restSeconds, span)();
    endStepSpan(span, held.current(), result);
    return result;
  } catch (error) {
    const lost = error instanceof LeaseLost;
    endStepSpan(span, held.current(), lost ? 'lost' : 'broken off', lost ? undefined : 'internal');
    if (lost) return 'lost';
    throw error;
  } finally {
    await held.stop().catch(() => undefined);
  }
}

function createRun(
  outer: Context,
  steps: readonly AnyStep[],
  { bootstrapId, instance: instanceId, generation }: StepMessage,
  { deadlineAt }: RunOptions,
  bootstrap: StoredBootstrap,
  held: Held,
  restSeconds: number,
  span: Span,
): () => Promise<RunResult> {
  const { store, clock } = outer;
  const removing = bootstrap.data.state === 'removing';
  const making = planOfRecord(steps, bootstrap.data);
  const plan = removing ? removalPlanOf(making) : making;
  const secrets = new Set<string>();
  const calls: CallRecord[] = [];
  const atMilliseconds = performance.now();

  const log = redact(
    withFields(outer.log, {
      bootstrap: bootstrapId,
      instance: instanceId,
      ...traceFields(outer.config.project, span),
    }),
    () => [...secrets],
  );
  const onCall: OnCall = (text, { name, result, milliseconds }) => {
    log('DEBUG', text);
    const startedAt = Date.now() - milliseconds;
    span.child(name, { kind: 'client', startedAt, attributes: { 'plinth.result': result } }).end();
    if (calls.length < maxCalls) calls.push({ at: clock.now().toISOString(), text: hide(text) });
  };
  const context: Context = {
    ...outer,
    log,
    cloud: outer.cloud.reportingTo(onCall, `${bootstrapId}/${instanceId}`),
    remote: remoteWithSpans(outer.remote, span),
  };
  const hide = (text: string): string => createHide([...secrets])(text);
  const heard = (value: string): void => {
    secrets.add(value);
    // Of a key in PEM any one line tells too much.
    for (const line of value.split('\n')) if (line.length >= 24 && !line.startsWith('-----')) secrets.add(line);
  };

  const deadline = new AbortController();
  const secondsLeft = (): number => (deadlineAt.getTime() - clock.now().getTime()) / 1000 - marginSeconds;
  const deadlineTimer = setTimeout(
    () => deadline.abort(new Error('The deadline is near')),
    Math.max(secondsLeft(), 0) * 1000,
  );
  // As if the deadline were now: the lease is given back, and a fresh message carries on elsewhere.
  const endNow = (): void => deadline.abort(outer.ending?.reason);
  outer.ending?.addEventListener('abort', endNow);
  if (outer.ending?.aborted) endNow();
  const signal = AbortSignal.any([held.signal, deadline.signal]);

  let { waited } = held.current();
  const attempts = (): number => Object.values(held.current().failures).reduce((sum, each) => sum + each, 0);

  async function end(ending: Ending): Promise<RunResult> {
    const parts = { context, steps, held, bootstrapId, instance: instanceId, generation, calls, trace: span };
    await endWith(parts, ending, { bootstrap, atMilliseconds });
    if (ending.state === 'failed') endStepSpan(span, held.current(), ending.state, ending.problem.code);
    return ending.state;
  }

  /** The wait is longer than this invocation: a fresh message carries on. */
  async function handOver(seconds: number, change: Partial<LeaseRecord> = {}, publish = true): Promise<RunResult> {
    const notBefore = addSeconds(clock.now(), seconds);
    const data: Partial<LeaseRecord> = {
      ...change,
      ...(waited === undefined ? {} : { waited }),
      state: 'ready',
      holder: undefined,
      expiresAt: undefined,
      notBefore,
      dueAt: publish ? addSeconds(new Date(notBefore), marginSeconds) : notBefore,
    };
    const write = {
      kind: 'update',
      collection: collections.leases,
      id: leaseId(bootstrapId, instanceId),
      data,
    } as const;
    for (let version = await held.stop(); ; version = await held.again()) {
      try {
        await persist(() => store.commit([{ ...write, version }]));
        break;
      } catch (error) {
        // Touched by a person who cancels; whoever carries on sees it.
        if (!(error instanceof Conflict)) throw error;
      }
    }
    const { lane } = held.current();
    if (publish) await publishReady(context, bootstrapId, generation, [{ id: instanceId, lane }], span);
    return 'handed-over';
  }

  /** Waits here if there is time. Undefined: go on; else how this invocation ended. */
  async function pause(seconds: number, change: Partial<LeaseRecord>): Promise<RunResult | undefined> {
    const { note, retry } = held.current();
    if (secondsLeft() < seconds) return handOver(seconds, change, seconds <= longestWaitSeconds);
    if (
      Object.entries(change).some(([field, value]) => (({ note, retry }) as Record<string, unknown>)[field] !== value)
    ) {
      await held.save({ ...change, waited });
    }
    if (held.current().cancel) return end({ state: 'cancelled' });
    await clock.wait(seconds, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (held.signal.aborted) throw held.signal.reason;
    if (deadline.signal.aborted) return handOver(0);
    return held.current().cancel ? end({ state: 'cancelled' }) : undefined;
  }

  const comeBack = ({ seconds, note, patienceSeconds }: Omit<Again, 'state'>): Again => ({
    state: 'again',
    seconds,
    note: hide(note),
    patienceSeconds,
  });

  /** One look, and one go if something is missing. What it throws is the step's. */
  async function turn(instance: Instance, call: StepCall): Promise<Turn> {
    const { step } = instance;
    const look = async (): Promise<Ending | undefined> => {
      const seen = await step.observe(call);
      if (seen === undefined) return undefined;
      const output = step.output.parse(seen);
      const [note, warning] = [step.summary?.(output), step.warning?.(output)];
      return {
        state: 'done',
        output,
        ...(note === undefined ? {} : { note: hide(note) }),
        ...(warning === undefined ? {} : { warning: hide(warning) }),
      };
    };
    const standing = await look();
    if (standing !== undefined) return standing;
    const outcome = await step.run(call);
    if (outcome.kind === 'again') return comeBack(outcome);
    if (outcome.kind === 'needsClient') return { state: 'client', note: hide(outcome.what) };
    if (outcome.kind === 'recheck') return recheck(instance, outcome.needs, outcome.note);
    const made = await look();
    if (made !== undefined) return made;
    throw new Problem('cloud-propagation', `${titleOf(instance)} was made, but cannot be seen yet.`);
  }

  /** Not for ever: what comes and goes again and again is a failure that a person must see. */
  function recheck({ id, fillings }: Instance, needs: readonly string[], note: string): Ending {
    if ((bootstrap.data.instances[id]?.rechecks ?? 0) >= maxRechecks) {
      throw new Problem('cloud-conflict', `${note}; so it went ${maxRechecks} times before.`, {
        advice:
          'Find out what takes it away: Compute Engine lists the operations of the VM. Then run the same command again.',
      });
    }
    const ids = needs.flatMap((need) => {
      const filling = fillings[need];
      if (filling?.kind === 'one') return [filling.id];
      return filling?.kind === 'byKey' ? Object.values(filling.ids) : [];
    });
    return { state: 'waiting', recheck: ids, note: hide(note) };
  }

  /** What the instance made is to go. */
  async function undo({ id, step }: Instance, call: StepCall): Promise<Turn> {
    const output = step.output.safeParse(bootstrap.data.instances[id]?.output).data;
    const outcome = await step.undo?.({ ...call, output });
    if (outcome?.kind === 'again') return comeBack(outcome);
    const note = outcome?.kind === 'done' ? outcome.note : undefined;
    return { state: 'gone', ...(note === undefined ? {} : { note: hide(note) }) };
  }

  /** Undefined: look again. */
  const act = (turned: Turn, instance: Instance, beganAt: Date): Promise<RunResult | undefined> => {
    if (turned.state !== 'again') return end(turned);
    const { seconds = 0, since = beganAt.toISOString() } = waited ?? {};
    const looked = (clock.now().getTime() - beganAt.getTime()) / 1000;
    const problem = endless(instance, turned, { seconds: seconds + looked, since }, removing);
    if (problem !== undefined) return end({ state: 'failed', problem: stored(problem, hide) });
    waited = { seconds: seconds + looked + turned.seconds, since };
    return pause(turned.seconds, { note: turned.note, retry: undefined });
  };

  /** Undefined: try again. */
  async function failed(error: unknown, instance: Instance): Promise<RunResult | undefined> {
    if (held.signal.aborted) throw held.signal.reason;
    if (error instanceof LeaseLost) throw error;
    // Stopped by us, not by what it met: nothing to hold against the step.
    if (deadline.signal.aborted) return handOver(0);
    const kind = failureClass(error);
    const { failures, propagationSeconds } = held.current();
    const tries = failures[kind] ?? 0;
    const known = error instanceof Problem && kind !== 'internal';
    log(known ? 'WARNING' : 'ERROR', `${titleOf(instance)} failed (${kind}, failure ${tries + 1})`, { error });
    const delay = retryDelay(error, { failures, propagationSeconds }, Math.random());
    const counted = { ...failures, [kind]: tries + 1 };
    if (delay === undefined) {
      await held.save({ failures: counted });
      const problem = known ? exhausted(error, tries) : internal(instance, span.id);
      return end({ state: 'failed', problem: stored(problem, hide) });
    }
    const change: Partial<LeaseRecord> = {
      failures: counted,
      propagationSeconds: propagationSeconds + (kind === 'propagation' ? delay : 0),
      retry: known ? hide(error.detail) : 'Something went wrong inside plinth',
    };
    await held.save(change);
    return pause(delay, { retry: change.retry });
  }

  return async () => {
    try {
      const instance = plan.get(instanceId);
      if (instance === undefined) {
        log('WARNING', 'The instance is no longer part of the plan');
        return await end({ state: 'cancelled' });
      }
      if (bootstrap.data.state === 'cancelling' || held.current().cancel) return await end({ state: 'cancelled' });
      if (held.current().deaths >= maxDeaths) {
        log('ERROR', `The function ended ${maxDeaths} times while it ran this instance`);
        return await end({ state: 'failed', problem: stored(internal(instance, span.id), hide) });
      }
      if (restSeconds > 0) {
        if (secondsLeft() < restSeconds) return await handOver(restSeconds, {}, false);
        const ended = await pause(restSeconds, {});
        if (ended !== undefined) return ended;
      }
      const facts = await persist(() => factsOf(context, bootstrapId, bootstrap.data));
      for (;;) {
        const beganAt = clock.now();
        const outcome = await tried(() => {
          const attempt = attempts();
          const call = createCall({
            context,
            facts,
            record: bootstrap.data,
            instance,
            attempt,
            signal,
            heard,
            secrets: () => [...secrets],
          });
          return removing ? undo(instance, call) : turn(instance, call);
        });
        const result = await ('error' in outcome
          ? failed(outcome.error, instance)
          : act(outcome.value, instance, beganAt));
        if (result !== undefined) return result;
      }
    } finally {
      clearTimeout(deadlineTimer);
      outer.ending?.removeEventListener('abort', endNow);
    }
  };
}

async function tried<T>(work: () => Promise<T>): Promise<{ readonly value: T } | { readonly error: unknown }> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error };
  }
}

/** What a person reads of a fault of ours: nothing but where to look. */
const internal = (instance: Instance, traceId: string): Problem =>
  new Problem('internal', `Something went wrong inside plinth at "${titleOf(instance)}".`, {
    advice: `Run the same command again; if it comes back, tell your operator this trace: ${traceId}.`,
  });

const stored = ({ code, detail, advice }: Problem, hide: (text: string) => string): StoredProblem => ({
  code,
  detail: hide(detail),
  ...(advice === undefined ? {} : { advice: hide(advice) }),
});
