/** Sends the messages that make a lane look at instances. */
import { type Lane, topics } from '../../../shared/names.js';
import { type Trace, traceparentOf } from '../../../shared/trace.js';
import type { Context } from '../../context.js';

export interface Due {
  readonly bootstrapId: string;
  readonly generation: number;
  readonly instance: string;
  readonly lane: Lane;
}

type Parts = Pick<Context, 'publisher' | 'log' | 'tracing'>;

/**
 * One call a lane. It never fails: the leases are stored, and sweep sends what was not taken. `trace`: the trace that caused
 * it.
 */
export async function publish({ publisher, log, tracing }: Parts, due: readonly Due[], trace?: Trace): Promise<void> {
  const lanes = (Object.keys(topics) as Lane[]).filter((lane) => due.some((each) => each.lane === lane));
  await Promise.all(
    lanes.map(async (lane) => {
      const messages = due
        .filter((each) => each.lane === lane)
        .map(({ bootstrapId, instance, generation }) => ({ schema: 1, bootstrapId, instance, generation }) as const);
      const topic = topics[lane];
      const span = await tracing.begin(`publish ${topic}`, trace, {
        kind: 'producer',
        attributes: { 'messaging.destination.name': topic, 'messaging.batch.message_count': messages.length },
      });
      try {
        await publisher.publish(lane, messages, { traceparent: traceparentOf(span) });
        span.end();
      } catch (error) {
        span.end({ failure: 'not taken' });
        log('WARNING', `${messages.length} messages were not taken; sweep will send them`, { error });
      }
    }),
  );
}

/** Publishes what became ready of one bootstrap. */
export const publishReady = (
  context: Parts,
  bootstrapId: string,
  generation: number,
  ready: readonly { readonly id: string; readonly lane: Lane }[],
  trace?: Trace,
): Promise<void> =>
  publish(
    context,
    ready.map(({ id, lane }) => ({ bootstrapId, generation, instance: id, lane })),
    trace,
  );
