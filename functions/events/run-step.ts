/** What both lanes do with a Pub/Sub message: run the instance it names. Registered by functions/index.ts, once a lane. */
import { StepMessage } from '../../shared/bootstrap/message.js';
import type { Context } from '../context.js';
import { runInstance } from '../engine/run.js';
import type { AnyStep } from '../engine/step.js';
import { withFields } from '../log.js';
import { spanOf, traceFields, traceOf } from '../trace.js';

/** The part we read of a CloudEvent `google.cloud.pubsub.topic.v1.messagePublished`. */
export interface MessagePublished {
  readonly id?: string;
  readonly data?:
    | {
        readonly message?:
          | { readonly data?: string; readonly attributes?: Readonly<Record<string, string>> }
          | undefined;
      }
    | undefined;
}

/** An event function is stopped after nine minutes. */
const functionSeconds = 540;

/** Throws only what a redelivery may heal; an unreadable message is logged and done with, or it would come back for ever. */
export async function runStep(context: Context, steps: readonly AnyStep[], event: MessagePublished): Promise<void> {
  const startedAt = context.clock.now();
  const { data, attributes } = event.data?.message ?? {};
  const headers = { traceparent: attributes?.['traceparent'] };
  const traceId = traceOf(headers);
  const log = withFields(context.log, traceFields(context.config.project, traceId, spanOf(headers)));
  const message = parse(data);
  if (message === undefined) {
    log('ERROR', 'A message that is none of ours was dropped', { event: event.id });
    return;
  }
  const { bootstrapId, instance } = message;
  const deadlineAt = new Date(startedAt.getTime() + functionSeconds * 1000);
  try {
    const result = await runInstance(context, steps, message, { deadlineAt, trace: { id: traceId } });
    const seconds = (context.clock.now().getTime() - startedAt.getTime()) / 1000;
    log('INFO', `${instance}: ${result}`, { bootstrap: bootstrapId, instance, result, seconds });
  } catch (error) {
    log('ERROR', `${instance} was not run to a border; sweep takes it up`, { bootstrap: bootstrapId, instance, error });
    throw error;
  }
}

function parse(data: string | undefined): StepMessage | undefined {
  try {
    return StepMessage.parse(JSON.parse(Buffer.from(data ?? '', 'base64').toString('utf8')));
  } catch {
    return undefined;
  }
}
