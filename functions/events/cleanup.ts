/** The HTTP function that Cloud Scheduler calls every five minutes. `?dryRun=true`: what a run would do now. */
import type { HttpFunction } from '@google-cloud/functions-framework';
import type { Context } from '../context.js';
import { cleanup } from '../engine/cleanup.js';
import type { AnyStep } from '../engine/step.js';
import { createScheduledFunction } from './scheduled.js';

export const createCleanupFunction = (context: Context, steps: readonly AnyStep[]): HttpFunction =>
  createScheduledFunction(context, 'cleanup', async ({ originalUrl }) => {
    const dryRun = new URL(originalUrl, 'http://localhost').searchParams.get('dryRun') === 'true';
    const report = await cleanup(context, steps, { dryRun });
    if (report.remove.length > 0 && !dryRun) context.log('INFO', `Handed ${report.remove.length} projects to teardown`);
    return report;
  });
