/** Waits within this invocation while its time allows. Otherwise a fresh message carries on. */
import { addSeconds } from '../../../shared/add-seconds.js';
import { collections } from '../../../shared/names.js';
import { afterConflict } from '../../store/retry.js';
import { Conflict } from '../../store/store.js';
import { type LeaseRecord, leaseId } from '../record/documents.js';
import { marginSeconds } from './deadline.js';
import { end } from './end.js';
import type { Invocation } from './invocation.js';
import type { Waited } from './patience.js';
import { publishReady } from './publish.js';
import type { RunResult } from './result.js';
import { shownChange } from './shown.js';
import { withUnfinished } from './unfinished.js';

/** Longer waits are left to sweep. A fresh message would only wait, or be handed over again and again. */
export const longestWaitSeconds = 300;

interface Wait {
  readonly seconds: number;
  /** All waiting of this instance so far, including this wait. */
  readonly waited: Waited | undefined;
  /** For the lease: what people see of the wait. */
  readonly change?: Partial<LeaseRecord>;
  /** Resolves once what is waited for has ended. Rejects if nobody can tell. */
  readonly ended?: (() => Promise<void>) | undefined;
}

/** So long at most an end is waited for. Then the step looks. */
const longestEndSeconds = 60;
/** So often it is heeded meanwhile whether somebody has cancelled. */
const heedSeconds = 5;

/** Frees the lease and makes it due after the wait. Without `publish`, sweep sends the message. */
export async function handOver(
  { context, message, held, span, redactor }: Invocation,
  { seconds, waited, change = {} }: Wait,
  publish = true,
): Promise<RunResult> {
  const { bootstrapId, instance, generation } = message;
  const notBefore = addSeconds(context.clock.now(), seconds);
  const data: Partial<LeaseRecord> = {
    ...held.untold(),
    ...shownChange(change, redactor),
    ...(waited === undefined ? {} : { waited }),
    state: 'ready',
    holder: undefined,
    expiresAt: undefined,
    notBefore,
    dueAt: publish ? addSeconds(new Date(notBefore), marginSeconds) : notBefore,
  };
  const write = { kind: 'update', collection: collections.leases, id: leaseId(bootstrapId, instance), data } as const;
  let version = await held.stop();
  for (let attempt = 0; ; attempt++) {
    try {
      await context.store.commit([{ ...write, version }]);
      break;
    } catch (error) {
      // A person cancelled in between. The next claim sees it.
      if (!(error instanceof Conflict)) throw error;
      if (attempt > 0) await afterConflict(context, attempt);
      version = await held.again();
    }
  }
  const { lane } = held.current();
  if (publish) await publishReady(context, bootstrapId, generation, [{ id: instance, lane }], span);
  return 'handed-over';
}

async function untilOver(
  { context: { clock }, held, signal }: Invocation,
  { seconds, ended }: Pick<Wait, 'seconds' | 'ended'>,
): Promise<void> {
  if (ended === undefined) return clock.wait(seconds, signal);
  const known = ended().then(
    () => 'ended' as const,
    () => 'unknown' as const,
  );
  for (let waited = 0; waited < longestEndSeconds && !held.current().cancel; waited += heedSeconds) {
    const over = new AbortController();
    const slice = clock.wait(heedSeconds, AbortSignal.any([signal, over.signal]));
    const told = await Promise.race([known, slice]).finally(() => over.abort());
    if (told === 'ended') return;
    if (told === 'unknown') return clock.wait(seconds, signal);
  }
}

/** Ends it as cancelled. What there is of it is looked at first, by a fresh message if the time of this invocation is over. */
export async function endCancelled(invocation: Invocation): Promise<RunResult> {
  const resolution = await withUnfinished(invocation, { state: 'cancelled' });
  if (resolution !== undefined) return end(invocation, resolution);
  return handOver(invocation, { seconds: 0, waited: invocation.held.current().waited });
}

/** Waits here if there is time. Undefined: go on. Otherwise: how this invocation ended. */
export async function pause(invocation: Invocation, wait: Wait): Promise<RunResult | undefined> {
  const { held, deadline, signal } = invocation;
  const { seconds, waited, change = {}, ended } = wait;
  if (ended === undefined && deadline.secondsLeft() < seconds)
    return handOver(invocation, wait, seconds <= longestWaitSeconds);
  held.tell({ ...change, waited });
  if (held.current().cancel) return endCancelled(invocation);
  await untilOver(invocation, wait).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (held.signal.aborted) throw held.signal.reason;
  if (deadline.signal.aborted) return handOver(invocation, { seconds: 0, waited });
  return held.current().cancel ? endCancelled(invocation) : undefined;
}
