/** The time of one invocation: until the platform stops the function or asks for a shutdown. */
import type { Context } from '../../context.js';

/** Kept free at the end to write down the state. */
export const marginSeconds = 20;

export interface Deadline {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  /** Without the margin. */
  secondsLeft(): number;
  close(): void;
}

export function createDeadline({ clock, shutdown }: Pick<Context, 'clock' | 'shutdown'>, deadlineAt: Date): Deadline {
  const controller = new AbortController();
  const secondsLeft = (): number => (deadlineAt.getTime() - clock.now().getTime()) / 1000 - marginSeconds;
  const stopTimer = clock.after(Math.max(secondsLeft(), 0), () => controller.abort(new Error('The deadline is near')));
  // A shutdown acts as a deadline now: the lease is given back, and a fresh message carries on elsewhere.
  const endNow = (): void => controller.abort(shutdown?.reason);
  shutdown?.addEventListener('abort', endNow);
  if (shutdown?.aborted) endNow();
  return {
    signal: controller.signal,
    secondsLeft,
    close() {
      stopTimer();
      shutdown?.removeEventListener('abort', endNow);
    },
  };
}
