/** Lets operators see, pause, resume and run the Cloud Scheduler job that calls cleanup. */
import type { scheduleRoutes } from '../../../shared/bootstrap/routes.js';
import type { ScheduleVerb, ScheduleView } from '../../../shared/cleanup-schedule.js';
import { schedulerJobs } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Caller } from '../../identity/auth.js';
import type { Handlers } from '../router.js';

export function scheduleHandlers({ cloud, log }: Pick<Context, 'cloud' | 'log'>): Handlers<typeof scheduleRoutes> {
  const job = schedulerJobs.cleanup;

  async function standing(caller: Caller): Promise<ScheduleView> {
    if (!caller.operator) throw new Problem('forbidden', 'When cleanup runs is for operators.');
    const found = await cloud.scheduler.status(job);
    if (found !== undefined) return found;
    throw new Problem('not-found', `There is no job ${job} in Cloud Scheduler: nothing calls cleanup.`, {
      advice: 'Deploy plinth again; terraform makes the job.',
    });
  }

  return {
    async getCleanupSchedule({ caller }) {
      return { status: 200, body: await standing(caller) };
    },
    async steerCleanupSchedule({ caller, params: { verb } }) {
      const before = await standing(caller);
      // Google refuses to pause a paused job, and to resume one that is not paused.
      const after = isSo(before, verb) ? before : await cloud.scheduler[verb](job);
      log('INFO', `${caller.email}: ${verb} ${job}`, { before: before.state, after: after.state });
      return { status: 200, body: after };
    },
  };
}

const isSo = ({ state }: ScheduleView, verb: ScheduleVerb): boolean =>
  (verb === 'pause' && state === 'paused') || (verb === 'resume' && state === 'enabled');
