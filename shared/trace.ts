/** A position in a trace, as in W3C's traceparent. The command line sends it. Functions and messages pass it on. */
import { randomBytes } from 'node:crypto';

export interface Trace {
  /** 32 hex digits. */
  readonly id: string;
  /** 16 hex digits: the parent span of what follows. */
  readonly spanId: string;
  /** Whether anything records that span. */
  readonly sampled: boolean;
}

export const newSpanId = (): string => randomBytes(8).toString('hex');
export const newTrace = (): Trace => ({ id: randomBytes(16).toString('hex'), spanId: newSpanId(), sampled: false });

export const traceparentOf = ({ id, spanId, sampled }: Trace): string => `00-${id}-${spanId}-${sampled ? '01' : '00'}`;

/** Undefined for anything else, and for ids of all zeros. */
export function readTraceparent(text: string | undefined): Trace | undefined {
  const [, id, spanId, flags] = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/.exec(text ?? '') ?? [];
  if (id === undefined || spanId === undefined || /^0+$/.test(id) || /^0+$/.test(spanId)) return undefined;
  return { id, spanId, sampled: (Number.parseInt(flags ?? '0', 16) & 1) === 1 };
}
