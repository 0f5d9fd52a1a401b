/** `plinth beta cleanup schedule status|pause|resume|run`: when plinth looks for expired projects. For operators. */
import type { ScheduleVerb, ScheduleView } from '../../shared/cleanup-schedule.js';
import { type Command, defineCommand } from '../frame/command.js';

const shown = async ({ job, state, schedule, timeZone, nextRunAt, lastRunAt, lastResult }: ScheduleView) => {
  const { time } = await import('../frame/table.js');
  return () =>
    [
      `Job         ${job}`,
      `State       ${state}${state === 'paused' ? ': nothing is cleaned up until it is resumed' : ''}`,
      `Schedule    ${schedule} (${timeZone})`,
      `Next run    ${nextRunAt === undefined ? '-' : time(nextRunAt)}`,
      `Last run    ${lastRunAt === undefined ? '-' : `${time(lastRunAt)}${lastResult === undefined ? '' : `, ${lastResult}`}`}`,
    ].join('\n');
};

const status = defineCommand({
  words: 'beta cleanup schedule status',
  summary: 'Show when cleanup runs, for operators',
  description: [
    'Shows the job of Cloud Scheduler that looks for projects whose time is over: its state, when it runs next, and how the last run ended.',
  ],
  examples: ['plinth beta cleanup schedule status'],

  async run(call) {
    const client = await call.connect();
    const schedule = await client.cleanupSchedule();
    return { data: { schedule }, show: await shown(schedule) };
  },
});

const steering = (verb: ScheduleVerb, summary: string, description: string): Command =>
  defineCommand({
    words: `beta cleanup schedule ${verb}`,
    summary,
    description: [description],
    examples: [`plinth beta cleanup schedule ${verb}`],

    async run(call) {
      const client = await call.connect();
      const schedule = await client.steerCleanupSchedule(verb);
      return { data: { schedule }, show: await shown(schedule) };
    },
  });

export const cleanupSchedule: readonly Command[] = [
  status,
  steering(
    'pause',
    'Stop cleanup until it is resumed, for operators',
    'Pauses the job that looks for projects whose time is over. A removal that has begun goes on. No other begins until the job is resumed.',
  ),
  steering(
    'resume',
    'Let cleanup run on its schedule again, for operators',
    'Resumes the job that looks for projects whose time is over. Its next run finds what came due meanwhile.',
  ),
  steering(
    'run',
    'Run cleanup now, for operators',
    'Runs the job that looks for projects whose time is over now, also while it is paused.',
  ),
];
