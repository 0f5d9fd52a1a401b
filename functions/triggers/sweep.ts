/**
 * The HTTP function for Cloud Scheduler's job every minute. It sends what is due again. It warns of ends that are near and of
 * ceilings that are passed. It has roles on projects follow their teams. It keeps the pools of prepared projects. It sends
 * notices that the webhook has not taken yet.
 */
import type { HttpFunction } from '@google-cloud/functions-framework';
import { lookAtFuses } from '../bootstraps/budget/enforce.js';
import { warn } from '../bootstraps/lifetime/warn.js';
import { followTeams } from '../bootstraps/people/team-roles.js';
import type { Context } from '../context.js';
import { sweep } from '../engine/run/sweep.js';
import { keepPools } from '../pools/keep.js';
import { sendNotices } from '../webhook/send-notices.js';
import { createScheduledFunction } from './scheduled.js';

export const createSweepFunction = (context: Context): HttpFunction =>
  createScheduledFunction(context, 'sweep', async (_request, span) => {
    // A failure of one must not stop the other.
    const [swept, told, followed, kept] = await Promise.allSettled([
      sweep(context, span),
      tell(context),
      followTeams(context),
      keepPools(context),
    ]);
    if (told.status === 'rejected')
      context.log('ERROR', 'Warnings were not told or sent to the end', { error: told.reason });
    if (followed.status === 'rejected')
      context.log('ERROR', 'Roles did not follow the members of teams', { error: followed.reason });
    if (kept.status === 'rejected')
      context.log('ERROR', 'The pools of prepared projects were not kept', { error: kept.reason });
    if (swept.status === 'rejected') throw swept.reason;
    if (told.status === 'rejected') throw told.reason;
    if (followed.status === 'rejected') throw followed.reason;
    if (kept.status === 'rejected') throw kept.reason;
    return { ...swept.value, ...told.value, followed: followed.value, pools: kept.value };
  });

/** Notices of both kinds of warnings are sent at once. */
async function tell(context: Context) {
  const [warned, overspent] = await Promise.all([warn(context), lookAtFuses(context)]);
  return { warned, overspent, notices: await sendNotices(context) };
}
