/** The clock of a local stack: real time, but waits for the cloud are as much shorter as the simulated cloud is faster. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../functions/context.js';

export const createClock = (timeFactor: number): Clock => ({
  now: () => new Date(),
  // Never 0: a step that looks again must let the others in.
  wait: (seconds, signal) =>
    sleep(Math.max(1, seconds * 1000 * timeFactor), undefined, signal === undefined ? {} : { signal }),
});
