/** What speaks against removing a record whose time is over: the real project, and other records that name it. */
import { collections, labels } from '../../shared/names.js';
import type { Context } from '../context.js';
import { findProofKey, isProof, labelValue } from '../engine/proof.js';
import type { BootstrapRecord } from '../engine/record/documents.js';
import { contradiction, judgeRecord, neverSeen, numberOf } from '../engine/record/removal-rule.js';
import type { SeenProject } from '../engine/step.js';
import { readable } from './readable.js';

/** Undefined: nothing does. Dry runs ask it too, so that they list what a run would really do. */
export async function objectionTo(context: Context, id: string, record: BootstrapRecord): Promise<string | undefined> {
  const project = await standing(context, record.projectId);
  const own = project && (await ofProject(context, id, record, project));
  return own ?? (await ofOthers(context, id, record, project));
}

/** Undefined: the project does not exist or cannot be seen. The removal finds out and reports it. */
async function standing({ cloud }: Context, projectId: string): Promise<SeenProject | undefined> {
  const project = await cloud.projects.find(projectId);
  return project?.state === 'ACTIVE' ? project : undefined;
}

const ofProject = async (context: Context, id: string, record: BootstrapRecord, project: SeenProject) =>
  contradiction(record, project) ?? (await stranger(context, id, record, project));

/** If a record never learnt its project's number, the project's labels or its proof must name this bootstrap. */
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
  // Takes the labels as they are, like the step `project` before it deletes. They may be those of an earlier owner.
  const { [labels.deleteAfter]: expiry = '', [labels.owner]: owner = '' } = found;
  const proven = { projectNumber: numberOf(project), bootstrapId: id, owner, expiry };
  if (key !== undefined && isProof(key, found[labels.proof], proven)) return undefined;
  return 'its record knows no number of it, and nothing proves that this bootstrap made it';
}

/** Two records of one project contradict each other, unless both are at their end and agree with the existing project. */
async function ofOthers(
  context: Context,
  id: string,
  { projectId }: BootstrapRecord,
  project: SeenProject | undefined,
): Promise<string | undefined> {
  const { store, clock } = context;
  const named = await store.query({ collection: collections.bootstraps, where: [['projectId', '==', projectId]] });
  for (const document of named) {
    if (document.id === id) continue;
    const against = `the record ${document.id} names its project ${projectId} too`;
    const other = readable(document);
    if (other === undefined) return `${against}, and cannot be read`;
    const verdict = judgeRecord(other, clock.now());
    // A record that was removed before its project appeared keeps no project. The labels alone would let that project go, too.
    const isOver = verdict.remove || (other.state === 'removed' && neverSeen(other));
    if (!isOver) return `${against}: ${verdict.why}`;
    const means = project && (await ofProject(context, document.id, other, project));
    if (means !== undefined) return `${against}: ${means}`;
  }
  return undefined;
}
