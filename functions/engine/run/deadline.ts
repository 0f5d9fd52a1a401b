/** The time that one invocation has: until the platform stops the function, or tells it to shut down. */
import type { Context } from '../../context.js';

/** Kept free before the function's end to write down where it stands. */
export const marginSeconds = 20;

export interface Deadline {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  /** Less the margin. */
  secondsLeft(): number;
  close(): void;
}

export function createDeadline({ clock, shutdown }: Pick<Context, 'clock' | 'shutdown'>, deadlineAt: Date): Deadline {
  const controller = new AbortController();
  const secondsLeft = (): number => (deadlineAt.getTime() - clock.now().getTime()) / 1000 - marginSeconds;
  const timer = setTimeout(
    () => controller.abort(new Error('The deadline is near')),
    Math.max(secondsLeft(), 0) * 1000,
  );
  // As if the deadline were now: the lease is given back, and a fresh message carries on elsewhere.
  const endNow = (): void => controller.abort(shutdown?.reason);
  shutdown?.addEventListener('abort', endNow);
  if (shutdown?.aborted) endNow();
  return {
    signal: controller.signal,
    secondsLeft,
    close() {
      clearTimeout(timer);
      shutdown?.removeEventListener('abort', endNow);
    },
  };
}
