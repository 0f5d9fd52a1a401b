/** Whether Cloud Scheduler calls sweep and cleanup, and how their last runs ended. */
import { schedulerJobs } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import { defineFinding, ok, stop } from '../finding.js';

const scheduleOf = (which: keyof typeof schedulerJobs, why: string) =>
  defineFinding({
    code: `schedule-${which}`,
    title: `Schedule of ${which}`,
    why,
    by: 'door',
    mustBeAsked: true,
    about: [],
    ask: ({ context }) => context.cloud.scheduler.status(schedulerJobs[which]),
    judge(found) {
      const job = schedulerJobs[which];
      if (found === undefined) {
        return stop(
          new Problem('not-found', `There is no job ${job} in Cloud Scheduler.`, {
            advice: 'Apply terraform again: it makes the job.',
          }),
        );
      }
      const { state, schedule, lastResult = 'not run yet' } = found;
      const what = `${state}, ${schedule}, last run: ${lastResult}`;
      const isFine = state === 'enabled' && (lastResult === 'ok' || lastResult === 'not run yet');
      return isFine
        ? ok(what)
        : { state: 'warning', what, mend: `Look at the log of plinth-${which}, and resume the job.` };
    },
  });

export const sweepSchedule = scheduleOf('sweep', 'It sends again what was forgotten.');
export const cleanupSchedule = scheduleOf('cleanup', 'It removes projects on time.');
