/**
 * The HTTP function for Cloud Scheduler's job every minute. It sends what is due again. It warns of ends that are near and of
 * ceilings that are passed. It sends notices that the webhook has not taken yet.
 */
import type { HttpFunction } from '@google-cloud/functions-framework';
import { lookAtFuses } from '../bootstraps/fuse.js';
import { warn } from '../bootstraps/warn.js';
import type { Context } from '../context.js';
import { sweep } from '../engine/run/sweep.js';
import { sendNotices } from '../webhook/send-notices.js';
import { createScheduledFunction } from './scheduled.js';

export const createSweepFunction = (context: Context): HttpFunction =>
  createScheduledFunction(context, 'sweep', async (_request, span) => {
    // A failure of one must not stop the other.
    const [swept, told] = await Promise.allSettled([sweep(context, span), tell(context)]);
    if (told.status === 'rejected')
      context.log('ERROR', 'Warnings were not told or sent to the end', { error: told.reason });
    if (swept.status === 'rejected') throw swept.reason;
    if (told.status === 'rejected') throw told.reason;
    return { ...swept.value, ...told.value };
  });

/** Notices of both kinds of warnings are sent at once. */
async function tell(context: Context) {
  const [warned, overspent] = await Promise.all([warn(context), lookAtFuses(context)]);
  return { warned, overspent, notices: await sendNotices(context) };
}
