/** The span of one claim of one instance. It is part of its bootstrap's trace, whichever trace the message came in. */
import type { StepMessage } from '../../../shared/bootstrap/message.js';
import { readTraceparent, type Trace } from '../../../shared/trace.js';
import type { Context } from '../../context.js';
import type { Span } from '../../tracing/tracing.js';
import type { BootstrapRecord, LeaseRecord } from '../record/documents.js';

/** Messages of sweep, a resume or a removal come in traces of their own. The span links to them. */
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
