/** The Cloud Scheduler job that calls cleanup, as operators see and control it. The API and the CLI share this form. */
import * as z from 'zod';
import { moment, text } from './api.js';

export const scheduleVerbs = ['pause', 'resume', 'run'] as const;
export type ScheduleVerb = (typeof scheduleVerbs)[number];

export const ScheduleView = z
  .object({
    job: text('Name of the job', 'plinth-cleanup'),
    state: z.enum(['enabled', 'paused', 'broken']).meta({
      description: '`broken`: Google could not change it the last time, or has disabled it',
    }),
    schedule: text('unix-cron', '*/5 * * * *'),
    timeZone: text('Of the schedule', 'Etc/UTC'),
    nextRunAt: moment('Absent while it is paused').optional(),
    lastRunAt: moment('Absent before the first').optional(),
    lastResult: text(
      'How the last run ended: `ok`, or the canonical status such as `PERMISSION_DENIED`. Absent before the first',
      'ok',
    ).optional(),
  })
  .meta({ id: 'CleanupSchedule', description: 'The job that calls cleanup' });
export type ScheduleView = z.infer<typeof ScheduleView>;
