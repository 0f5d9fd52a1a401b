/** Whether Cloud Scheduler calls sweep and cleanup, and how their last runs ended. */
import { schedulerJobs } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import { isHidden } from '../../cloud/errors.js';
import { defineFinding, ok, stop } from '../../engine/finding.js';
import { applyTerraform, logsOf } from './mends.js';

const scheduleOf = (which: keyof typeof schedulerJobs, why: string) =>
  defineFinding({
    code: `schedule-${which}`,
    title: `Schedule of ${which}`,
    why,
    by: 'bootstraps',
    mustBeAsked: true,
    about: [],
    async ask({ context: { cloud, config } }) {
      const place = `--location=${config.schedulerRegion} --project=${config.project}`;
      const logs = logsOf(which, config);
      try {
        return { found: await cloud.scheduler.status(schedulerJobs[which]), place, logs };
      } catch (error) {
        if (!isHidden(error)) throw error;
        return { found: 'hidden' as const, place, logs };
      }
    },
    judge({ found, place, logs }) {
      const job = schedulerJobs[which];
      if (found === 'hidden') {
        return stop(
          new Problem('cloud-permission', `plinth-bootstraps may not look at the job ${job}.`, {
            advice: `${applyTerraform}: its grants stand in terraform/roles.json.`,
          }),
        );
      }
      if (found === undefined) {
        return stop(
          new Problem('not-found', `There is no job ${job} in Cloud Scheduler.`, {
            advice: `${applyTerraform}: it makes the job.`,
          }),
        );
      }
      const { state, schedule, lastResult = 'not run yet' } = found;
      const what = `${state}, ${schedule}, last run: ${lastResult}`;
      if (state === 'paused') {
        const resume =
          which === 'cleanup' ? 'plinth beta cleanup schedule resume' : `gcloud scheduler jobs resume ${job} ${place}`;
        return { state: 'warning', what, mend: `Resume it: ${resume}` };
      }
      if (state === 'enabled' && (lastResult === 'ok' || lastResult === 'not run yet')) return ok(what);
      return { state: 'warning', what, mend: `Look at its log: ${logs}` };
    },
  });

export const sweepSchedule = scheduleOf('sweep', 'It sends again what was forgotten.');
export const cleanupSchedule = scheduleOf('cleanup', 'It removes projects on time.');
