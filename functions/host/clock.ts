/** The time of a process. It is a member of the context, so that whoever builds the context decides how time passes. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Clock {
  /** Real time, never scaled. */
  now(): Date;
  /** Waits `seconds` of cloud time, which a simulated cloud scales. Rejects when the signal aborts. */
  wait(seconds: number, signal?: AbortSignal): Promise<void>;
  /** Waits `seconds` of real time, which nothing scales. */
  pause(seconds: number): Promise<void>;
  /** Calls `work` once, after `seconds` of real time, unless the returned function is called before. */
  after(seconds: number, work: () => void): () => void;
}

/** Waits and timers of the process itself. */
export const realTimers: Pick<Clock, 'pause' | 'after'> = {
  pause: (seconds) => sleep(seconds * 1000),
  after(seconds, work) {
    const timer = setTimeout(work, seconds * 1000);
    return () => clearTimeout(timer);
  },
};

export const realClock: Clock = {
  ...realTimers,
  now: () => new Date(),
  wait: (seconds, signal) => sleep(seconds * 1000, undefined, signal === undefined ? {} : { signal }),
};
