/**
 * What operators do about a project that bears the labels of this deployment and has no record: look at it, adopt it, or remove
 * it. The labels must prove by a keyed hash over its number that plinth made it, beneath its own parent.
 */
import { addSeconds } from '../../shared/add-seconds.js';
import { parseDuration } from '../../shared/bootstrap/duration.js';
import { endFault, ttlFault } from '../../shared/bootstrap/lifetime.js';
import type { UnknownProject } from '../../shared/bootstrap/unknown-project.js';
import { iamMember } from '../../shared/iam-member.js';
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import { checkAgreed, planOfRemoval } from '../bootstraps/plan.js';
import { type AskedTeam, intoTeam, teamOfLost } from '../bootstraps/restore/lost-team.js';
import type { Context } from '../context.js';
import { findProofKey } from '../engine/proof.js';
import type { StoredBootstrap } from '../engine/record/documents.js';
import { bootstrapOf, deploymentOf, judgeAsked, numberOf } from '../engine/record/removal-rule.js';
import { getBootstrap } from '../engine/record/update.js';
import type { AnyStep, SeenProject } from '../engine/step.js';
import { adoptedRecord, adoptToKeep, adoptToRemove } from './adopt.js';
import { recordOf } from './labelled-projects.js';

/** Throws `not-found` if plinth sees no such project, and `conflict` if a record knows it. */
async function seen(context: Context, projectId: string): Promise<SeenProject> {
  const project = await context.cloud.projects.find(projectId);
  if (project?.state !== 'ACTIVE') {
    throw new Problem('not-found', `There is no active project ${projectId} that plinth can see.`, {
      advice: 'plinth beta cleanup list shows projects without a record.',
    });
  }
  const document = await recordOf(context, project);
  if (document !== undefined) {
    throw new Problem('conflict', `The project ${projectId} has a record: ${document.id}.`, {
      advice: `See it: plinth beta bootstrap-cloud status ${projectId}`,
    });
  }
  return project;
}

/** Undefined: the labels prove that plinth made it. */
async function objectionTo(context: Context, project: SeenProject): Promise<string | undefined> {
  const key = await findProofKey(context).catch(() => undefined);
  const verdict = judgeAsked(project, deploymentOf(context.config, key), context.clock.now());
  return verdict.remove ? undefined : verdict.why;
}

async function proven(context: Context, projectId: string): Promise<SeenProject> {
  const project = await seen(context, projectId);
  const why = await objectionTo(context, project);
  if (why === undefined) return project;
  throw new Problem('conflict', `plinth leaves the project ${projectId} alone: ${why}.`, {
    advice: 'If it is to go, whoever owns it deletes it with gcloud projects delete.',
  });
}

/** Its record as it would be made. */
async function asBootstrap(context: Context, project: SeenProject): Promise<StoredBootstrap> {
  const id = bootstrapOf(project);
  const { record } = await adoptedRecord(context, { id, project, deadlineAt: context.clock.now().toISOString() });
  return { collection: collections.bootstraps, id, version: '', data: record };
}

export async function viewUnknown(
  context: Context,
  steps: readonly AnyStep[],
  projectId: string,
): Promise<UnknownProject> {
  const project = await seen(context, projectId);
  const why = await objectionTo(context, project);
  const { parent, labels: found = {} } = project;
  const lost = why === undefined ? await teamOfLost(context, project) : undefined;
  return {
    projectId,
    projectNumber: numberOf(project),
    ...(parent === undefined ? {} : { parent }),
    labels: { ...found },
    ...(lost === undefined ? {} : lost.holder === undefined ? { formerTeam: lost.team } : { team: lost.team }),
    ...(why === undefined
      ? { proven: true, plan: planOfRemoval(steps, await asBootstrap(context, project)) }
      : { proven: false, why }),
  };
}

interface Adoption {
  readonly by: string;
  readonly owner: string;
  readonly ttl: string;
  readonly team: AskedTeam;
}

/** The record lives until `ttl` from now. Nobody knows what the bootstrap was made from, so it only waits for its end. */
export async function adoptProject(
  context: Context,
  projectId: string,
  { by, owner, ttl, team }: Adoption,
): Promise<StoredBootstrap> {
  const now = context.clock.now();
  const deadlineAt = addSeconds(now, parseDuration(ttl) ?? 0);
  // Its record begins now. When the project itself began is not known.
  const fault = ttlFault(ttl) ?? endFault(now.toISOString(), deadlineAt);
  if (fault !== undefined)
    throw new Problem('bad-input', `ttl ${fault}`, { errors: [{ path: 'ttl', message: fault }] });
  const project = await proven(context, projectId);
  const given = { by, owner, ownerMember: iamMember(owner), into: () => intoTeam(context, project, { owner, team }) };
  await adoptToKeep(context, { id: bootstrapOf(project), project, deadlineAt }, given);
  return standing(context, bootstrapOf(project));
}

/** As cleanup removes one that is past its time. The step `project` judges it once more just before the deletion. */
export async function removeUnknown(
  context: Context,
  steps: readonly AnyStep[],
  projectId: string,
  { by, agreed }: { readonly by: string; readonly agreed: string | undefined },
): Promise<StoredBootstrap> {
  const project = await proven(context, projectId);
  const planned = await asBootstrap(context, project);
  checkAgreed(agreed, () => planOfRemoval(steps, planned));
  const deadlineAt = context.clock.now().toISOString();
  await adoptToRemove(context, steps, { id: planned.id, project, deadlineAt, by, why: 'asked' });
  return standing(context, planned.id);
}

async function standing(context: Context, id: string): Promise<StoredBootstrap> {
  const found = await getBootstrap(context, id);
  if (found === undefined) throw new Problem('unavailable', `The record ${id} is being written.`);
  return found;
}
