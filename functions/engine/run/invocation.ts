/** One invocation working on one instance: everything its parts share, as one immutable value. */
import { setMaxListeners } from 'node:events';
import type { StepMessage } from '../../../shared/bootstrap/message.js';
import { createSecretRedactor, type SecretRedactor } from '../../../shared/secret-redactor.js';
import type { OnCall } from '../../cloud/rest.js';
import type { Context } from '../../context.js';
import { withFields } from '../../host/log.js';
import { traceFields } from '../../tracing/trace.js';
import type { Span } from '../../tracing/tracing.js';
import type { Plan } from '../plan.js';
import type { CallRecord, StoredBootstrap } from '../record/documents.js';
import { planOfRecord } from '../record/plan-of-record.js';
import { removalPlanOf } from '../record/removal-plan.js';
import type { AnyStep } from '../step.js';
import { createDeadline, type Deadline } from './deadline.js';
import type { Held, LeaseTimes } from './lease.js';
import { createOnward, type Onward } from './onward.js';
import { remoteWithSpans } from './remote-spans.js';
import { shownChange, shownText } from './shown.js';

export interface Invocation {
  /** Its log names the instance. Its cloud calls are noted and traced. */
  readonly context: Context;
  readonly steps: readonly AnyStep[];
  readonly message: StepMessage;
  /** As read when the lease was claimed. */
  readonly bootstrap: StoredBootstrap;
  /** When the bootstrap was read, by this process's clock. */
  readonly atMilliseconds: number;
  /** The plan of the bootstrap, or of its removal. */
  readonly plan: Plan;
  readonly removing: boolean;
  readonly held: Held;
  readonly deadline: Deadline;
  readonly onward: Onward;
  /** Aborted when the lease is lost or the time is over. */
  readonly signal: AbortSignal;
  /** Knows every secret that the invocation has met. */
  readonly redactor: SecretRedactor;
  /** The first of its cloud calls, for people to read. */
  readonly calls: readonly CallRecord[];
  readonly span: Span;
}

const maxCalls = 60;

export function createInvocation(
  outer: Context,
  { steps, message, bootstrap, held, span }: Pick<Invocation, 'steps' | 'message' | 'bootstrap' | 'held' | 'span'>,
  deadlineAt: Date,
  times: LeaseTimes,
): Invocation {
  const { clock } = outer;
  const { bootstrapId, instance } = message;
  const removing = bootstrap.data.state === 'removing';
  const making = planOfRecord(steps, bootstrap.data);
  const redactor = createSecretRedactor();
  const calls: CallRecord[] = [];
  const fields = { bootstrap: bootstrapId, instance, ...traceFields(outer.config.project, span) };
  const log = withFields(outer.log, fields);
  const onCall: OnCall = (text, { name, result, milliseconds }) => {
    log('DEBUG', text);
    const startedAt = clock.now().getTime() - milliseconds;
    span.child(name, { kind: 'client', startedAt, attributes: { 'plinth.result': result } }).end();
    if (calls.length < maxCalls) calls.push({ at: clock.now().toISOString(), text: shownText(text, redactor) });
  };
  const deadline = createDeadline(outer, deadlineAt);
  const signal = AbortSignal.any([held.signal, deadline.signal]);
  // Each key that is being made listens. Node would take so many for a leak.
  setMaxListeners(0, signal);
  return {
    context: {
      ...outer,
      log,
      cloud: outer.cloud.reportingTo(onCall, `${bootstrapId}/${instance}`),
      remote: remoteWithSpans(outer.remote, span),
    },
    steps,
    message,
    bootstrap,
    atMilliseconds: clock.now().getTime(),
    plan: removing ? removalPlanOf(making) : making,
    removing,
    held: withoutSecrets(held, redactor),
    deadline,
    onward: createOnward(outer, deadline, times),
    signal,
    redactor,
    calls,
    span,
  };
}

const withoutSecrets = (held: Held, redactor: SecretRedactor): Held => ({
  ...held,
  save: (change) => held.save(shownChange(change, redactor)),
  tell: (change) => held.tell(shownChange(change, redactor)),
});
