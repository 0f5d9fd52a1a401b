/**
 * When the jobs of Cloud Scheduler are due: reads cron schedules on a clock as fast as the simulated cloud. No other file
 * imports croner.
 */
import { Cron } from 'croner';
import type { World } from '../kernel/api.js';

/** A minute of the cloud takes at least this long, so that even a fast cloud leaves an idle machine idle. */
const shortestMinuteMs = 250;

/** Real milliseconds per millisecond of the cloud; 1 in a realistic cloud. */
const rateOf = (world: World): number => Math.max(world.scaled(1) / 1000, shortestMinuteMs / 60_000);

/** The moment at which the cloud's clock left real time. */
function originOf(world: World): number {
  const clock = world.table<number>('cloudscheduler.clock');
  clock['origin'] ??= world.now();
  return clock['origin'];
}

const field = String.raw`(?:\*|[a-z]{3}|\d{1,2})(?:-(?:[a-z]{3}|\d{1,2}))?(?:/\d{1,3})?`;
const fiveFields = new RegExp(`^(?:${field}(?:,${field})*)(?: +(?:${field}(?:,${field})*)){4}$`, 'i');

/**
 * unix-cron as Google accepts it: five fields, without the signs of other crons. Undefined if the schedule is malformed or
 * never comes due.
 */
function readSchedule(schedule: string, timeZone: string): Cron | undefined {
  if (!fiveFields.test(schedule.trim())) return undefined;
  try {
    const cron = new Cron(schedule.trim(), { mode: '5-part', timezone: timeZone, paused: true });
    return cron.nextRun() === null ? undefined : cron;
  } catch {
    return undefined;
  }
}

export const isSchedule = (schedule: string, timeZone: string): boolean =>
  readSchedule(schedule, timeZone) !== undefined;

/** The real time at which a schedule next comes due after `after`, in milliseconds. */
export function nextAfter(world: World, schedule: string, timeZone: string, after: number): number | undefined {
  const rate = rateOf(world);
  const origin = originOf(world);
  const next = readSchedule(schedule, timeZone)?.nextRun(new Date(origin + (after - origin) / rate));
  return next === null || next === undefined ? undefined : origin + (next.getTime() - origin) * rate;
}
