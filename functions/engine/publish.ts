/** Sends the messages that make a lane look at instances. Called after the commit that made them ready, and by sweep. */
import { randomBytes } from 'node:crypto';
import { type Lane, topics } from '../../shared/names.js';
import type { Context } from '../context.js';

export interface Trace {
  /** 32 hex digits. */
  readonly id: string;
}

const traceparent = ({ id }: Trace): string => `00-${id}-${randomBytes(8).toString('hex')}-01`;

/** Never fails: the leases stand, and sweep sends what was not taken. */
export async function publishReady(
  { publisher, log }: Pick<Context, 'publisher' | 'log'>,
  bootstrapId: string,
  generation: number,
  ready: readonly { readonly id: string; readonly lane: Lane }[],
  trace?: Trace,
): Promise<void> {
  const lanes = (Object.keys(topics) as Lane[]).filter((lane) => ready.some((each) => each.lane === lane));
  await Promise.all(
    lanes.map(async (lane) => {
      const messages = ready
        .filter((each) => each.lane === lane)
        .map(({ id }) => ({ schema: 1, bootstrapId, instance: id, generation }) as const);
      try {
        await publisher.publish(lane, messages, trace === undefined ? {} : { traceparent: traceparent(trace) });
      } catch (error) {
        log('WARNING', `${messages.length} messages were not taken; sweep will send them`, { error });
      }
    }),
  );
}
