/**
 * Finds what is past its time and hands it to teardown. It looks at records and, independently, at labels of existing
 * projects and at notes of what is outside of them. Runs may overlap, come late, or be missing for a day.
 */
import type { CleanupFound, CleanupReport } from '../../shared/bootstrap/cleanup.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { AnyStep } from '../engine/step.js';
import { mapInBatches } from '../host/map-in-batches.js';
import type { Candidate } from './candidate.js';
import { byRecords } from './due-records.js';
import { byLabels, type Labelled, type LabelSearch } from './labelled-projects.js';
import { byNotes } from './left-outside.js';

/** How many records, and as many projects, one run looks at closely. The rest waits for the next run. */
const perRun = 500;
const atOnce = 20;

export interface CleanupOptions {
  /** Nothing is written. `remove` lists what a run with the same `search` would remove now. */
  readonly dryRun?: boolean;
  /** Default: `page`, or `all` for a dry run. */
  readonly search?: LabelSearch;
  readonly limit?: number;
}

export async function cleanup(
  context: Context,
  steps: readonly AnyStep[],
  { dryRun = false, search = dryRun ? 'all' : 'page', limit = perRun }: CleanupOptions = {},
): Promise<CleanupReport> {
  const { log } = context;
  const records = await byRecords(context, steps, limit);
  // Compared by project id, because a label may name another bootstrap.
  const known = new Set(records.found.flatMap(({ projectId, over }) => (over ? [] : [projectId])));
  let unsearched: { readonly error: unknown } | undefined;
  const projects = await byLabels(context, steps, known, { search, limit }).catch((error: unknown): Labelled => {
    // A failed search must not hold up records that are due.
    unsearched = { error };
    return { found: [], failed: [], more: false, turn: async () => undefined };
  });
  const notes = await byNotes(context, steps, limit);
  const all = [...records.found, ...projects.found, ...notes.found];
  const { remove, failed } = await handled(context, all, dryRun);
  if (unsearched !== undefined) throw unsearched.error;
  if (!dryRun) await projects.turn();
  const keep = all.flatMap(({ verdict, act: _, over: __, ...found }) =>
    !verdict.remove && verdict.shown ? [found] : [],
  );
  for (const { projectId, why } of keep) log('WARNING', `${projectId} is kept: ${why}`);
  return {
    remove,
    keep,
    failed: [...projects.failed, ...notes.failed, ...failed],
    more: records.more || projects.more || notes.more,
  };
}

async function handled({ log }: Context, all: readonly Candidate[], dryRun: boolean) {
  const remove: CleanupFound[] = [];
  const failed: CleanupFound[] = [];
  await mapInBatches(all, atOnce, async ({ verdict, act, over: _, ...found }) => {
    try {
      if (!dryRun) await act?.();
      if (verdict.remove && act !== undefined) remove.push(found);
    } catch (error) {
      // One bad project must not delay others.
      log('ERROR', `${found.projectId} could not be handed to teardown`, { error });
      const why = error instanceof Problem ? error.detail : 'something went wrong; the log has more';
      failed.push({ ...found, why });
    }
  });
  return { remove, failed };
}
