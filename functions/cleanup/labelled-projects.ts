/**
 * Finds what is past its time by labels of existing projects, independently of the records. It looks for the record of each
 * project. If there is one, the record decides.
 */
import type { CleanupFound } from '../../shared/bootstrap/cleanup.js';
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import { requestRemoval } from '../bootstraps/removal/removal.js';
import type { Context } from '../context.js';
import { findProofKey, projectsOf } from '../engine/proof.js';
import type { BootstrapRecord } from '../engine/record/documents.js';
import { isBootstrapId } from '../engine/record/ids.js';
import { bootstrapOf, contradiction, deploymentOf, judgeProject, judgeRecord } from '../engine/record/removal-rule.js';
import type { AnyStep, SeenProject } from '../engine/step.js';
import { mapInBatches } from '../host/map-in-batches.js';
import type { Document } from '../store/store.js';
import { adoptExpired } from './adopt.js';
import { type Candidate, foundOf, kept, objection, unreadable } from './candidate.js';
import { type LabelPage, nextPage } from './label-pages.js';
import { readable } from './readable.js';

const atOnce = 20;

/** `page`: the next 500, so that a run costs the same however many live. `all`: for people who want to know now. */
export type LabelSearch = 'page' | 'all';

export interface Labelled {
  readonly found: readonly Candidate[];
  readonly failed: readonly CleanupFound[];
  /** There are more than `limit`. */
  readonly more: boolean;
  /** Call it when all of them were handled. */
  turn(): Promise<void>;
}

/** `known`: ids of projects that need no second look. */
export async function byLabels(
  context: Context,
  steps: readonly AnyStep[],
  known: ReadonlySet<string>,
  { search, limit }: { readonly search: LabelSearch; readonly limit: number },
): Promise<Labelled> {
  const { clock, config } = context;
  if (config.defaultParent === undefined) return { found: [], failed: [], more: false, turn: async () => undefined };
  const { projects, turn } = await pageOf(context, config.defaultParent, search);
  const now = clock.now();
  const late = projects.filter((project) => {
    // Without a key nothing is proven. Projects that are kept for silent reasons need no closer look.
    const verdict = judgeProject(project, deploymentOf(config, undefined), now);
    return !verdict.remove && verdict.shown && !known.has(project.projectId);
  });
  const looked = late.slice(0, limit);
  const proofKey = looked.length === 0 ? undefined : await findProofKey(context).catch(() => undefined);
  const found: Candidate[] = [];
  const failed: CleanupFound[] = [];
  await mapInBatches(looked, atOnce, async (project) => {
    try {
      const candidate = await candidateOf(context, steps, project, proofKey);
      if (candidate !== undefined) found.push(candidate);
    } catch (error) {
      context.log('ERROR', `${project.projectId} could not be judged`, { error });
      failed.push({ projectId: project.projectId, why: 'it could not be judged; the log has more' });
    }
  });
  return { found, failed, more: late.length > limit, turn };
}

async function pageOf(context: Context, parent: string, search: LabelSearch): Promise<LabelPage> {
  const { cloud, config } = context;
  const query = `parent:${parent} ${projectsOf(config.deployment)}`;
  if (search === 'page') return nextPage(context, query);
  return { projects: await cloud.projects.search(query), turn: async () => undefined };
}

async function candidateOf(
  context: Context,
  steps: readonly AnyStep[],
  { projectId }: SeenProject,
  proofKey: string | undefined,
): Promise<Candidate | undefined> {
  // The search is a little late: it may still list a project that is being deleted.
  const project = await context.cloud.projects.get(projectId);
  if (project?.state !== 'ACTIVE') return undefined;
  const document = await recordOf(context, project);
  return document === undefined
    ? withoutRecord(context, steps, project, proofKey)
    : withRecord(context, steps, project, document);
}

async function withRecord(
  context: Context,
  steps: readonly AnyStep[],
  project: SeenProject,
  document: Document,
): Promise<Candidate | undefined> {
  const { projectId } = project;
  const { id } = document;
  const record = readable(document);
  if (record === undefined) return { ...unreadable(document), projectId };
  const against = contradiction(record, project);
  if (against !== undefined) return kept({ ...foundOf(id, record, against), projectId }, against);
  const { state, removal } = record;
  if (state === 'removing' || (state === 'cancelling' && removal !== undefined)) return undefined;
  // A process that died asked for the project, and it appeared after its bootstrap was removed. Its labels find it at its
  // deadline.
  const late = state === 'removed';
  const verdict = late
    ? ({ remove: true, why: 'its bootstrap was removed before it came' } as const)
    : judgeRecord(record, context.clock.now());
  const found = { ...foundOf(id, record, verdict.why), verdict };
  if (!verdict.remove) return found;
  const objected = await objection(context, id, record);
  if (objected !== undefined) return kept(found, objected.why);
  const mayGo = (now: BootstrapRecord) => judgeRecord(now, context.clock.now()).remove;
  const request = { by: 'cleanup', why: 'expired', ...(late ? { late } : { mayGo }) } as const;
  return { ...found, act: async () => void (await requestRemoval(context, steps, id, request)) };
}

function withoutRecord(
  context: Context,
  steps: readonly AnyStep[],
  project: SeenProject,
  proofKey: string | undefined,
): Candidate {
  const { config, clock, cloud } = context;
  const { projectId } = project;
  const judge = (seen: SeenProject) => judgeProject(seen, deploymentOf(config, proofKey), clock.now());
  const verdict = judge(project);
  const candidate = { projectId, why: verdict.why, verdict };
  if (!verdict.remove) return candidate;
  return {
    ...candidate,
    async act() {
      // Read again: since the search, labels may have changed, or a record may have been made.
      const now = await cloud.projects.get(projectId);
      const still = now === undefined ? undefined : judge(now);
      if (now === undefined || still?.remove !== true) {
        throw new Problem('conflict', `it changed while it was looked at: ${still?.why ?? 'it is gone'}`);
      }
      if ((await recordOf(context, now)) !== undefined) return;
      await adoptExpired(context, steps, now);
    },
  };
}

/** By the bootstrap label, otherwise by project id. A label can be lost, or name another bootstrap. */
export async function recordOf({ store }: Context, project: SeenProject): Promise<Document | undefined> {
  const id = bootstrapOf(project);
  const named = isBootstrapId(id) ? await store.get(collections.bootstraps, id) : undefined;
  if (named?.data['projectId'] === project.projectId) return named;
  const [byProject] = await store.query({
    collection: collections.bootstraps,
    where: [['projectId', '==', project.projectId]],
    limit: 1,
  });
  return byProject ?? named;
}
