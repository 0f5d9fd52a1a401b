/** The job of Cloud Scheduler that calls cleanup, as an operator sees and steers it. Spoken by the API and the CLI. */
import * as z from 'zod';

export const scheduleVerbs = ['pause', 'resume', 'run'] as const;
export type ScheduleVerb = (typeof scheduleVerbs)[number];

export const ScheduleView = z.object({
  job: z.string(),
  /** `broken`: Google could not change it the last time, or has disabled it. */
  state: z.enum(['enabled', 'paused', 'broken']),
  /** unix-cron. */
  schedule: z.string(),
  timeZone: z.string(),
  /** Absent while it is paused. */
  nextRunAt: z.iso.datetime().optional(),
  lastRunAt: z.iso.datetime().optional(),
  /** How the last run ended: `ok`, or the canonical status: `PERMISSION_DENIED`. Absent before the first. */
  lastResult: z.string().optional(),
});
export type ScheduleView = z.infer<typeof ScheduleView>;
