/**
 * The clock of a local stack. It shows real time, but shortens waits for the cloud as much as the simulated cloud is faster.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, realTimers } from '../../functions/host/clock.js';

export const createClock = (timeFactor: number): Clock => ({
  ...realTimers,
  now: () => new Date(),
  // Never 0: a step that polls must let others run.
  wait: (seconds, signal) =>
    sleep(Math.max(1, seconds * 1000 * timeFactor), undefined, signal === undefined ? {} : { signal }),
});
