/**
 * Finds what bootstraps left outside of their projects: a delegation that could not be removed with its bootstrap, or whose
 * record is lost. Whoever makes a zone on the same name servers could take such a name over. One query of notes that are due,
 * each of them once a day. Cleanup has no role there: the undo of the step that wrote it removes it.
 */
import { addSeconds } from '../../shared/add-seconds.js';
import type { CleanupFound } from '../../shared/bootstrap/cleanup.js';
import { collections } from '../../shared/names.js';
import { requestRemoval } from '../bootstraps/removal/removal.js';
import type { Context } from '../context.js';
import { liftFile } from '../engine/record/documents.js';
import { type Outside, outsideSeconds } from '../engine/record/files.js';
import type { AnyStep } from '../engine/step.js';
import { mapInBatches } from '../host/map-in-batches.js';
import { Conflict, type Document } from '../store/store.js';
import { adoptToRemove } from './adopt.js';
import { type Candidate, kept } from './candidate.js';
import { readable } from './readable.js';

const atOnce = 20;

export interface LeftOutside {
  readonly found: readonly Candidate[];
  readonly failed: readonly CleanupFound[];
  /** More than `limit` may be due. */
  readonly more: boolean;
}

export async function byNotes(context: Context, steps: readonly AnyStep[], limit: number): Promise<LeftOutside> {
  const { store, clock, log } = context;
  const documents = await store.query({
    collection: collections.files,
    where: [['lookAt', '<=', clock.now().toISOString()]],
    orderBy: ['lookAt', 'asc'],
    limit,
  });
  const found: Candidate[] = [];
  const failed: CleanupFound[] = [];
  await mapInBatches(documents, atOnce, async (document) => {
    try {
      found.push(await candidateOf(context, steps, document));
    } catch (error) {
      const projectId = String(document.data['projectId']);
      log('ERROR', `${document.id} of ${projectId} could not be judged`, { error });
      failed.push({ projectId, why: 'what it left outside could not be judged; the log has more' });
    }
  });
  return { found, failed, more: documents.length === limit };
}

interface Note extends Outside {
  readonly bootstrapId: string;
  readonly later: () => Promise<void>;
}

async function candidateOf(context: Context, steps: readonly AnyStep[], document: Document): Promise<Candidate> {
  const { bootstrapId, outside = '', projectId = '', instance = '' } = liftFile(document.data);
  const note: Note = { bootstrapId, outside, projectId, instance, later: () => putOff(context, document) };
  const record = await context.store.get(collections.bootstraps, bootstrapId);
  if (record === undefined) return withoutRecord(context, steps, note);
  const known = readable(record);
  // Its own removal takes it away, or by what keeps the bootstrap it is not left.
  if (known?.state !== 'removed') return waiting(note, 'its bootstrap is not removed');
  const found = { projectId, bootstrapId, owner: known.owner, why: `it left ${outside}` };
  const project = await context.cloud.projects.find(projectId);
  if (project?.state === 'ACTIVE') {
    return { ...kept(found, `${found.why}, and is active: somebody restored it`), act: note.later };
  }
  return removed(found, note, async () => {
    await requestRemoval(context, steps, bootstrapId, { by: 'cleanup', why: 'expired', left: instance });
  });
}

/** Only a project that is seen to be deleted proves that nothing needs the thing any more. */
async function withoutRecord(context: Context, steps: readonly AnyStep[], note: Note): Promise<Candidate> {
  const { projectId, bootstrapId, outside, later } = note;
  const project = await context.cloud.projects.find(projectId);
  if (project === undefined) {
    const why = `no record knows it, and it is gone for good or not to be seen. If it is gone, remove ${outside} by hand`;
    return { ...kept({ projectId, bootstrapId, why }, why), act: later };
  }
  // Its labels decide. What was noted goes with it.
  if (project.state === 'ACTIVE') return waiting(note, 'its project is active');
  const found = { projectId, bootstrapId, why: `it left ${outside}; it is deleted, and no record knows it` };
  const deadlineAt = context.clock.now().toISOString();
  return removed(found, note, () => adoptToRemove(context, steps, { id: bootstrapId, project, deadlineAt }));
}

const waiting = ({ projectId, bootstrapId, later }: Note, why: string): Candidate => ({
  projectId,
  bootstrapId,
  why,
  verdict: { remove: false, why, shown: false },
  act: later,
});

/** Put off first, so that one that cannot be handed over does not take the place of others. */
const removed = (found: CleanupFound, { later }: Note, handOver: () => Promise<void>): Candidate => ({
  ...found,
  verdict: { remove: true, why: found.why },
  act: async () => {
    await later();
    await handOver();
  },
});

async function putOff({ store, clock }: Context, { collection, id, version }: Document): Promise<void> {
  const data = { lookAt: addSeconds(clock.now(), outsideSeconds) };
  try {
    await store.commit([{ kind: 'update', collection, id, version, data }]);
  } catch (error) {
    // Somebody else has written it since.
    if (!(error instanceof Conflict)) throw error;
  }
}
