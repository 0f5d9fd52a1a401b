/** The span of one claim of one instance: a part of its bootstrap's trace, in whichever trace the message came. */
import type { StepMessage } from '../../../shared/bootstrap/message.js';
import { readTraceparent, type Trace } from '../../../shared/trace.js';
import type { Context } from '../../context.js';
import type { Span } from '../../tracing/tracing.js';
import type { BootstrapRecord, LeaseRecord } from '../record/documents.js';

/** What sweep, a resume or a removal sends has a trace of its own, which is linked. */
export function beginStepSpan(
  { tracing }: Pick<Context, 'tracing'>,
  { traceparent, state }: BootstrapRecord,
  { bootstrapId, instance, generation }: StepMessage,
  cause: Trace | undefined,
): Promise<Span> {
  const own = readTraceparent(traceparent) ?? cause;
  const follows = cause?.id === own?.id;
  const [step = '', ...key] = instance.split(':');
  return tracing.begin(state === 'removing' ? `undo ${step}` : step, follows ? cause : own, {
    attributes: {
      'plinth.bootstrap': bootstrapId,
      'plinth.step': step,
      ...(key.length > 0 && { 'plinth.key': key.join(':') }),
      'plinth.generation': generation,
    },
    ...(follows ? {} : { link: cause }),
  });
}

/** `failure`: the code of a problem. */
export const endStepSpan = (span: Span, { failures, deaths }: LeaseRecord, outcome: string, failure?: string): void =>
  span.end({
    attributes: {
      'plinth.outcome': outcome,
      'plinth.attempt': Object.values(failures).reduce((sum, each) => sum + each, 1),
      'plinth.deaths': deaths,
    },
    failure,
  });
