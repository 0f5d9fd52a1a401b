/**
 * The HTTP function for Cloud Scheduler's job every five minutes. `?dryRun=true` answers what a run would do now.
 * A run also begins the hourly search for what no plan holds, if it is due.
 * `?search=all` looks at labels of all projects, `?search=page` at the next 500. A run defaults to `page`, a dry run to `all`.
 */
import type { HttpFunction } from '@google-cloud/functions-framework';
import { schedulerJobs } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import { type CleanupOptions, cleanup } from '../cleanup/cleanup.js';
import { searchHourly } from '../cleanup/hourly-search.js';
import type { Context } from '../context.js';
import type { AnyStep } from '../engine/step.js';
import { createScheduledFunction } from './scheduled.js';

export const createCleanupFunction = (context: Context, steps: readonly AnyStep[]): HttpFunction =>
  createScheduledFunction(context, 'cleanup', async ({ originalUrl }) => {
    const options = readOptions(new URL(originalUrl, 'http://localhost').searchParams);
    const report = await cleanup(context, steps, options);
    if (!options.dryRun) await searchOf(context);
    const { remove, more } = report;
    if (remove.length === 0 || options.dryRun) return report;
    context.log('INFO', `Handed ${remove.length} projects to teardown`);
    // Each further run has begun to remove something, so they come to an end.
    if (more) await goOn(context);
    return report;
  });

/** Its failure must not look like one of cleanup, which has done its work. */
async function searchOf(context: Context): Promise<void> {
  try {
    await searchHourly(context);
  } catch (error) {
    context.log('ERROR', 'The hourly search for what no plan holds failed; the next hour searches again', { error });
  }
}

/** Runs the same job again at once. If its schedule is paused, nothing goes on. */
async function goOn({ cloud, log }: Context): Promise<void> {
  const job = schedulerJobs.cleanup;
  try {
    const { state } = (await cloud.scheduler.status(job)) ?? {};
    if (state !== 'enabled') return log('INFO', `More is past its time; ${job} is not enabled, so nothing goes on`);
    await cloud.scheduler.run(job);
  } catch (error) {
    log('WARNING', 'More is past its time; it waits for the next run of the schedule', { error });
  }
}

/** Unknown parameters are refused, so that a mistyped dry run removes nothing. */
function readOptions(query: URLSearchParams): CleanupOptions {
  const known: Readonly<Record<string, readonly string[]>> = { dryRun: ['true', 'false'], search: ['all', 'page'] };
  const errors = [...query].flatMap(([name, value]) => {
    const values = known[name];
    if (values === undefined) return [{ path: `query.${name}`, message: 'is not known here' }];
    return values.includes(value) ? [] : [{ path: `query.${name}`, message: `must be ${values.join(' or ')}` }];
  });
  for (const name of Object.keys(known)) {
    if (query.getAll(name).length > 1) errors.push({ path: `query.${name}`, message: 'must be given once' });
  }
  if (errors.length > 0) {
    throw new Problem('bad-input', 'Cleanup takes ?dryRun=true, ?search=all or ?search=page, or nothing.', { errors });
  }
  const search = query.get('search');
  return { dryRun: query.get('dryRun') === 'true', ...(search === 'all' || search === 'page' ? { search } : {}) };
}
