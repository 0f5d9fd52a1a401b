/** Sends the messages that make a lane look at instances. Called after the commit that made them ready, and by sweep. */
import { randomBytes } from 'node:crypto';
import { type Lane, topics } from '../../shared/names.js';
import type { Context } from '../context.js';

export interface Trace {
  /** 32 hex digits. */
  readonly id: string;
}

export interface Due {
  readonly bootstrapId: string;
  readonly generation: number;
  readonly instance: string;
  readonly lane: Lane;
}

const traceparent = ({ id }: Trace): string => `00-${id}-${randomBytes(8).toString('hex')}-01`;

/** One call a lane. Never fails: the leases stand, and sweep sends what was not taken. */
export async function publish(
  { publisher, log }: Pick<Context, 'publisher' | 'log'>,
  due: readonly Due[],
  trace?: Trace,
): Promise<void> {
  const lanes = (Object.keys(topics) as Lane[]).filter((lane) => due.some((each) => each.lane === lane));
  await Promise.all(
    lanes.map(async (lane) => {
      const messages = due
        .filter((each) => each.lane === lane)
        .map(({ bootstrapId, instance, generation }) => ({ schema: 1, bootstrapId, instance, generation }) as const);
      try {
        await publisher.publish(lane, messages, trace === undefined ? {} : { traceparent: traceparent(trace) });
      } catch (error) {
        log('WARNING', `${messages.length} messages were not taken; sweep will send them`, { error });
      }
    }),
  );
}

/** The same for what became ready of one bootstrap. */
export const publishReady = (
  context: Pick<Context, 'publisher' | 'log'>,
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
