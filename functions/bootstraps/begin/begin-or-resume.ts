/** Begins a bootstrap, or resumes the one that its name is claimed for. */
import { collections } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import { liftName, nameId, read } from '../../engine/record/documents.js';
import type { AnyStep } from '../../engine/step.js';
import { afterConflict } from '../../store/retry.js';
import { Conflict } from '../../store/store.js';
import { getClaimed } from '../find.js';
import { begin } from './begin.js';
import type { BeginFacts, Begun } from './begin-facts.js';
import { type Draft, dropSecrets, endDraft, isOfDraft, makeDraft, prepareDraft } from './draft.js';
import { resume } from './resume.js';

const raceTries = 60;

/**
 * Throws `conflict` if the name is another owner's or an option cannot change, `stopped` while an operator stops new ones, and
 * `too-many` at a limit. One commit writes the name, the counters, the bootstrap, its first leases and its first event.
 */
export async function beginOrResume(context: Context, steps: readonly AnyStep[], facts: BeginFacts): Promise<Begun> {
  const draft = makeDraft(context, facts.options);
  try {
    return await begunWith(context, steps, facts, draft);
  } finally {
    endDraft(context, draft);
  }
}

async function begunWith(context: Context, steps: readonly AnyStep[], facts: BeginFacts, draft: Draft): Promise<Begun> {
  const { store } = context;
  for (let attempt = 0; attempt < raceTries; attempt++) {
    const name = read(await store.get(collections.names, nameId(facts.options.projectName)), liftName);
    try {
      if (name === undefined) {
        await prepareDraft(context, facts, draft);
        return await begin(context, steps, facts, draft);
      }
      const standing = await getClaimed(context, name.data.bootstrapId);
      if (isOfDraft(standing, draft)) return { bootstrap: standing, created: true, changes: [] };
      await dropSecrets(context, draft);
      return await resume(context, steps, facts, standing);
    } catch (error) {
      if (!(error instanceof Conflict)) {
        if (isRefusal(error)) await dropSecrets(context, draft);
        throw error;
      }
      await afterConflict(context, attempt);
    }
  }
  throw new Problem('unavailable', 'Too many bootstraps are begun at once.', { retryAfterSeconds: 5 });
}

/** True if nothing has changed for certain. A store that could not be reached may still have made the bootstrap. */
const isRefusal = (error: unknown): boolean => error instanceof Problem && error.code !== 'unavailable';
