/** Reads the body of a request when its function asks for it. What is unread waits in the client and in the kernel. */
import type { IncomingMessage } from 'node:http';
import { defaultBodyLimitBytes } from '../../shared/api.js';
import { type Fault, Problem } from '../../shared/problems.js';
import type { Clock } from '../host/clock.js';
import { createPlaces, type Places } from './places.js';

/** A body that takes longer is refused. 2 MiB take as long at 70 KB a second. */
const bodySeconds = 30;
/** A body that takes longer counts as unfinished. */
const promptSeconds = 1;
/** Node reads as much of a body ahead, or less. A longer one counts as large. */
const smallBytes = defaultBodyLimitBytes;

const oneBodyFault = (message: string): Fault[] => [{ path: 'body', message }];
const tooLate = (): Problem =>
  new Problem('bad-input', `body did not end within ${bodySeconds} seconds.`, {
    errors: oneBodyFault(`did not end within ${bodySeconds} seconds`),
    advice: 'Send the request again, over a faster network.',
  });
const tooLarge = (limitBytes: number): Problem =>
  new Problem('payload-too-large', `The body is larger than ${limitBytes / 1024} KiB.`);

export interface BodyBounds {
  readonly limitBytes: number;
  readonly clock: Pick<Clock, 'after'>;
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal;
  /** Called once if the body is not complete soon, and once if it is large. May throw a Problem, which ends the reading. */
  readonly onUnfinished?: () => void;
  readonly onLarge?: () => void;
}

/** The bytes as sent, never unpacked. Rejects with a Problem, or with the reason of `gone`. */
export async function readBody(request: IncomingMessage, bounds: BodyBounds): Promise<Buffer> {
  if (request.complete && request.readableLength === 0) return Buffer.alloc(0);
  const { limitBytes, clock, gone, onUnfinished, onLarge } = bounds;
  const chunks: Buffer[] = [];
  let kept = 0;
  let stop = (): void => undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const checking = (check: (() => void) | undefined): void => {
        try {
          check?.();
        } catch (error) {
          reject(error);
        }
      };
      const keep = (chunk: Buffer): void => {
        const wasSmall = kept <= smallBytes;
        kept += chunk.length;
        if (kept > limitBytes) reject(tooLarge(limitBytes));
        else if (wasSmall && kept > smallBytes) checking(onLarge);
        chunks.push(chunk);
      };
      const leave = (): void => reject(gone.reason);
      const timers = [
        clock.after(promptSeconds, () => checking(onUnfinished)),
        clock.after(bodySeconds, () => reject(tooLate())),
      ];
      stop = () => {
        for (const stopTimer of timers) stopTimer();
        request.off('data', keep).off('end', resolve).off('error', leave).pause();
        gone.removeEventListener('abort', leave);
      };
      request.on('data', keep).on('end', resolve).on('error', leave);
      gone.addEventListener('abort', leave);
      if (gone.aborted) leave();
    });
  } finally {
    stop();
  }
  return Buffer.concat(chunks);
}

/** What one process holds of the bodies of its callers. */
export interface BodyPlaces {
  readonly unfinished: Places;
  readonly large: Places;
}

export const createBodyPlaces = (): BodyPlaces => ({
  unfinished: createPlaces({ limit: 'unfinishedBodies', what: 'requests whose bodies do not end', each: 8, all: 40 }),
  // 2 MiB each at most, and a few times as much while they are read.
  large: createPlaces({ limit: 'largeBodies', what: 'requests with large bodies', each: 8, all: 16 }),
});
