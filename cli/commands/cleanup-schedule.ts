/** `plinth beta cleanup schedule status|pause|resume|run`: when plinth looks for expired projects. For operators. */
import type { ScheduleVerb, ScheduleView } from '../../shared/cleanup-schedule.js';
import { defineCommand } from '../frame/command.js';
import { time } from '../frame/table.js';

const shown = ({ job, state, schedule, timeZone, nextRunAt, lastRunAt, lastResult }: ScheduleView) => {
  return () =>
    [
      `Job         ${job}`,
      `State       ${state}${state === 'paused' ? ': nothing is cleaned up until it is resumed' : ''}`,
      `Schedule    ${schedule} (${timeZone})`,
      `Next run    ${nextRunAt === undefined ? '-' : time(nextRunAt)}`,
      `Last run    ${lastRunAt === undefined ? '-' : `${time(lastRunAt)}${lastResult === undefined ? '' : `, ${lastResult}`}`}`,
    ].join('\n');
};

export const scheduleStatus = defineCommand({
  description: [
    'Shows the job of Cloud Scheduler that looks for projects whose time is over: its state, when it runs next, and how the last run ended.',
  ],
  examples: ['plinth beta cleanup schedule status'],

  async run(call) {
    const client = await call.connect();
    const schedule = await client.cleanupSchedule();
    return { data: { schedule }, show: shown(schedule) };
  },
});

const steering = (verb: ScheduleVerb, description: string) =>
  defineCommand({
    description: [description],
    examples: [`plinth beta cleanup schedule ${verb}`],

    async run(call) {
      const client = await call.connect();
      const schedule = await client.steerCleanupSchedule(verb);
      return { data: { schedule }, show: shown(schedule) };
    },
  });

export const schedulePause = steering(
  'pause',
  'Pauses the job that looks for projects whose time is over. A removal that has begun goes on. No other begins until the job is resumed.',
);
export const scheduleResume = steering(
  'resume',
  'Resumes the job that looks for projects whose time is over. Its next run finds what came due meanwhile.',
);
export const scheduleRun = steering(
  'run',
  'Runs the job that looks for projects whose time is over now, also while it is paused.',
);
