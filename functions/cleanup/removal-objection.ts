/** What speaks against a record whose time is over: the project that is really there, and other records that name it. */
import { collections, labels } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { findProofKey, isProof, labelValue } from '../engine/proof.js';
import { type BootstrapRecord, liftBootstrap, read } from '../engine/record/documents.js';
import { contradiction, judgeRecord, neverSeen, numberOf } from '../engine/record/removal-rule.js';
import type { SeenProject } from '../engine/step.js';
import { persist } from '../store/persist.js';
import type { Document } from '../store/store.js';

/** Undefined: nothing does. A dry run asks it too, so that it lists what a run would not do as what it is. */
export async function objectionTo(context: Context, id: string, record: BootstrapRecord): Promise<string | undefined> {
  const project = await standing(context, record.projectId);
  const own = project && (await ofProject(context, id, record, project));
  return own ?? (await ofOthers(context, id, record, project));
}

/** Undefined: it is not there, or not to be seen; the removal finds out, and says so. */
async function standing({ cloud }: Context, projectId: string): Promise<SeenProject | undefined> {
  try {
    const project = await cloud.projects.get(projectId);
    return project?.state === 'ACTIVE' ? project : undefined;
  } catch (error) {
    if (error instanceof Problem && error.code === 'cloud-permission') return undefined;
    throw error;
  }
}

const ofProject = async (context: Context, id: string, record: BootstrapRecord, project: SeenProject) =>
  contradiction(record, project) ?? (await stranger(context, id, record, project));

/** A record that never learnt its project's number means only a project that says whose it is. */
async function stranger(
  context: Context,
  id: string,
  { instances }: BootstrapRecord,
  project: SeenProject,
): Promise<string | undefined> {
  if (instances['project']?.output !== undefined) return undefined;
  const { labels: found = {} } = project;
  const deployment = labelValue(context.config.deployment);
  if (found[labels.bootstrap] === labelValue(id) && found[labels.deployment] === deployment) return undefined;
  const key = await findProofKey(context);
  // As the labels stand, and as the project's own step asks before it deletes: they may be those of an earlier owner.
  const { [labels.deleteAfter]: expiry = '', [labels.owner]: owner = '' } = found;
  const proven = { projectNumber: numberOf(project), bootstrapId: id, owner, expiry };
  if (key !== undefined && isProof(key, found[labels.proof], proven)) return undefined;
  return 'its record knows no number of it, and nothing proves that this bootstrap made it';
}

/** Two records of one project contradict each other unless both have come to their end and mean the project that is there. */
async function ofOthers(
  context: Context,
  id: string,
  { projectId }: BootstrapRecord,
  project: SeenProject | undefined,
): Promise<string | undefined> {
  const { store, clock } = context;
  const named = await persist(() =>
    store.query({ collection: collections.bootstraps, where: [['projectId', '==', projectId]] }),
  );
  for (const document of named) {
    if (document.id === id) continue;
    const against = `the record ${document.id} names its project ${projectId} too`;
    const other = readable(document);
    if (other === undefined) return `${against}, and cannot be read`;
    const verdict = judgeRecord(other, clock.now());
    // Removed before its project came, it keeps no project: by the labels alone that project would go, too.
    const isOver = verdict.remove || (other.state === 'removed' && neverSeen(other));
    if (!isOver) return `${against}: ${verdict.why}`;
    const means = project && (await ofProject(context, document.id, other, project));
    if (means !== undefined) return `${against}: ${means}`;
  }
  return undefined;
}

function readable(document: Document): BootstrapRecord | undefined {
  try {
    return read(document, liftBootstrap)?.data;
  } catch {
    return undefined;
  }
}
