/** How both lanes handle a Pub/Sub message: run the instance it names, and go on from there. */
import { StepMessage } from '../../shared/bootstrap/message.js';
import type { Context } from '../context.js';
import type { RunResult } from '../engine/run/result.js';
import { runMessage } from '../engine/run/run.js';
import type { AnyStep } from '../engine/step.js';
import { withFields } from '../host/log.js';
import { traceFields, traceIn } from '../tracing/trace.js';

/** The part we read of a CloudEvent `google.cloud.pubsub.topic.v1.messagePublished`. */
export interface MessagePublished {
  readonly id?: string;
  readonly source?: string;
  readonly data?:
    | {
        readonly message?:
          | { readonly data?: string; readonly attributes?: Readonly<Record<string, string>> }
          | undefined;
      }
    | undefined;
}

/** The platform stops an event function after nine minutes. */
const functionSeconds = 540;

/**
 * Throws only errors that a redelivery may heal. An unreadable message is logged and dropped, or it would come back for ever.
 */
export async function runStep(context: Context, steps: readonly AnyStep[], event: MessagePublished): Promise<void> {
  const startedAt = context.clock.now();
  const { data, attributes } = event.data?.message ?? {};
  const headers = { traceparent: attributes?.['traceparent'] };
  const message = parse(data);
  const { bootstrapId = '', instance = '' } = message ?? {};
  const span = await context.tracing.begin('step message', traceIn(headers), {
    kind: 'consumer',
    attributes: { 'messaging.system': 'gcp_pubsub', 'plinth.bootstrap': bootstrapId, 'plinth.instance': instance },
  });
  const log = withFields(context.log, traceFields(context.config.project, span));
  if (message === undefined) {
    log('ERROR', 'A message that is none of ours was dropped', { event: event.id });
    span.end({ failure: 'none of ours' });
    return context.tracing.flush();
  }
  const deadlineAt = new Date(startedAt.getTime() + functionSeconds * 1000);
  try {
    const onEnd = (ended: string, result: RunResult, seconds: number): void =>
      log('INFO', `${ended}: ${result}`, { bootstrap: bootstrapId, instance: ended, result, seconds });
    const outcome = await runMessage(context, steps, message, { deadlineAt, trace: span, onEnd });
    span.end({ attributes: { 'plinth.outcome': outcome } });
  } catch (error) {
    log('ERROR', `${instance} was not run to a border; sweep takes it up`, { bootstrap: bootstrapId, instance, error });
    span.end({ failure: 'not run to a border' });
    throw error;
  } finally {
    // The function may be frozen once it has answered.
    await context.tracing.flush();
  }
}

function parse(data: string | undefined): StepMessage | undefined {
  try {
    return StepMessage.parse(JSON.parse(Buffer.from(data ?? '', 'base64').toString('utf8')));
  } catch {
    return undefined;
  }
}
