/** Decides what follows a failure: a retry after a while, or the end of the instance. */
import { QuotaShort, type StoredProblem } from '../../../shared/bootstrap/bootstrap.js';
import { calledBy } from '../../../shared/command-words.js';
import { Problem } from '../../../shared/problems.js';
import { type Instance, titleOf } from '../plan.js';
import type { LeaseRecord } from '../record/documents.js';
import { thisProject } from '../step.js';
import { end } from './end.js';
import { handOver, pause } from './hand-over.js';
import type { Invocation } from './invocation.js';
import { LeaseLost } from './lease.js';
import type { Waited } from './patience.js';
import type { RunResult } from './result.js';
import { exhausted, failureClass, retryDelay } from './retry.js';

/** Undefined: try again. */
export async function afterFailure(
  invocation: Invocation,
  instance: Instance,
  error: unknown,
  waited: Waited | undefined,
): Promise<RunResult | undefined> {
  const { context, held, deadline } = invocation;
  if (held.signal.aborted) throw held.signal.reason;
  if (error instanceof LeaseLost) throw error;
  // We stopped it ourselves. That does not count against the step.
  if (deadline.signal.aborted) return handOver(invocation, { seconds: 0, waited });
  const kind = failureClass(error);
  const { failures, propagationSeconds } = held.current();
  const tries = failures[kind] ?? 0;
  const known = error instanceof Problem && kind !== 'internal';
  const text = `${titleOf(instance)} failed (${kind}, failure ${tries + 1})`;
  context.log(known ? 'WARNING' : 'ERROR', text, { error });
  const delay = retryDelay(error, { failures, propagationSeconds }, context.random.fraction());
  const counted = { ...failures, [kind]: tries + 1 };
  if (delay === undefined) {
    await held.save({ failures: counted });
    return fail(invocation, known ? exhausted(error, tries) : faultOfOurs(instance, invocation));
  }
  const change: Partial<LeaseRecord> = {
    failures: counted,
    propagationSeconds: propagationSeconds + (kind === 'propagation' ? delay : 0),
    retry: known ? error.detail : 'Something went wrong inside plinth',
  };
  // What passes by itself is counted in time. A death loses the count since the last heartbeat at most.
  if (kind === 'propagation') held.tell(change);
  else await held.save(change);
  return pause(invocation, { seconds: delay, waited });
}

export const fail = (invocation: Invocation, problem: Problem): Promise<RunResult> =>
  end(invocation, { state: 'failed', problem: stored(problem, calledBy(invocation.bootstrap.data)) });

/** All that a person reads of it: where to look. */
export const faultOfOurs = (instance: Instance, { span }: Invocation): Problem =>
  new Problem('internal', `Something went wrong inside plinth at "${titleOf(instance)}".`, {
    advice: `Run the same command again; if it comes back, tell your operator this trace: ${span.id}.`,
  });

const stored = ({ code, detail, advice, members }: Problem, called: string): StoredProblem => {
  const short = QuotaShort.array().safeParse(members?.['short']).data;
  return {
    code,
    detail,
    ...(advice === undefined ? {} : { advice: advice.replaceAll(thisProject, called) }),
    ...(short === undefined ? {} : { short }),
    ...(code !== 'cloud-policy' || members === undefined ? {} : { members }),
  };
};
