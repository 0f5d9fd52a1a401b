/**
 * Every few minutes: finds what is past its time, by the records and, independently, by the labels of the projects that exist,
 * and hands it to teardown. May run twice at once, late, or never for a day. Called by events/cleanup.ts.
 */
import type { CleanupFound, CleanupReport } from '../../shared/bootstrap/cleanup.js';
import { collections, labels } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { findProofKey, labelValue } from '../steps/cloud/proof.js';
import type { Document } from '../store/store.js';
import { adopt } from './adopt.js';
import { type BootstrapRecord, liftBootstrap, read } from './documents.js';
import { persist } from './persist.js';
import { requestRemoval } from './removal.js';
import { objectionTo } from './removal-objection.js';
import { contradiction, deploymentOf, judgeProject, judgeRecord, removeAtOf, type Verdict } from './removal-rule.js';
import type { AnyStep, SeenProject } from './step.js';

/** Records and projects that one run looks at closely; the rest waits for the next. */
const perRun = 500;
const atOnce = 20;

interface Candidate extends CleanupFound {
  readonly verdict: Verdict;
  /** Missing: nothing is to be done about it. */
  readonly act?: (() => Promise<void>) | undefined;
}

/** With `dryRun` nothing is written, and `remove` is what a run would remove now. */
export async function cleanup(
  context: Context,
  steps: readonly AnyStep[],
  { dryRun = false, limit = perRun }: { readonly dryRun?: boolean; readonly limit?: number } = {},
): Promise<CleanupReport> {
  const records = await byRecords(context, steps, limit);
  const known = new Set(records.found.flatMap(({ bootstrapId }) => bootstrapId ?? []));
  const projects = await byLabels(context, steps, known, limit);
  const all = [...records.found, ...projects.found];
  const remove: CleanupFound[] = [];
  const failed: CleanupFound[] = [...projects.failed];
  for (let i = 0; i < all.length; i += atOnce) {
    await Promise.all(
      all.slice(i, i + atOnce).map(async ({ verdict, act, ...found }) => {
        try {
          if (!dryRun) await act?.();
          if (verdict.remove && act !== undefined) remove.push(found);
        } catch (error) {
          // One bad project delays no other.
          context.log('ERROR', `${found.projectId} could not be handed to teardown`, { error });
          failed.push({
            ...found,
            why: error instanceof Problem ? error.detail : 'something went wrong; the log has more',
          });
        }
      }),
    );
  }
  const keep = all.flatMap(({ verdict, act: _, ...found }) => (!verdict.remove && verdict.shown ? [found] : []));
  for (const { projectId, why } of keep) context.log('WARNING', `${projectId} is kept: ${why}`);
  return { remove, keep, failed, more: records.more || projects.more };
}

const foundOf = (id: string, record: BootstrapRecord, why: string): CleanupFound => ({
  projectId: record.projectId,
  bootstrapId: id,
  owner: record.owner,
  why,
});

/** One query, of what is due alone: however many live, it reads none of them. */
async function byRecords(
  context: Context,
  steps: readonly AnyStep[],
  limit: number,
): Promise<{ found: Candidate[]; more: boolean }> {
  const { store, clock } = context;
  const documents = await persist(() =>
    store.query({
      collection: collections.bootstraps,
      where: [['removeAt', '<=', clock.now().toISOString()]],
      orderBy: ['removeAt', 'asc'],
      limit,
    }),
  );
  const found: Candidate[] = [];
  for (let i = 0; i < documents.length; i += atOnce) {
    const some = documents.slice(i, i + atOnce);
    found.push(...(await Promise.all(some.map((document) => candidateOf(context, steps, document)))));
  }
  return { found, more: documents.length === limit };
}

async function candidateOf(context: Context, steps: readonly AnyStep[], document: Document): Promise<Candidate> {
  const { store, clock } = context;
  const { id, version } = document;
  const record = readable(document);
  if (record === undefined) return unreadable(document);
  const verdict = judgeRecord(record, clock.now());
  const found = { ...foundOf(id, record, verdict.why), verdict };
  const act = handOver(context, steps, id, record);
  // Under way: only looked after.
  if (record.state === 'removing') return { ...found, verdict: { remove: false, why: verdict.why, shown: false }, act };
  if (verdict.remove) return opposed(context, { ...found, act }, id, record);
  const removeAt = record.removal?.quarantinedAt === undefined ? removeAtOf(record) : undefined;
  if (removeAt === record.removeAt || record.state === 'removed') return found;
  const write = { kind: 'update', collection: collections.bootstraps, id, version, data: { removeAt } } as const;
  return {
    ...found,
    // Where to look is put right; a lost race means that somebody else has written it.
    act: async () => void (await store.commit([write]).catch(() => undefined)),
  };
}

/** What speaks against it, or cannot be asked, keeps it. */
async function opposed(
  context: Context,
  candidate: Candidate,
  id: string,
  record: BootstrapRecord,
): Promise<Candidate> {
  const why = await objectionTo(context, id, record).catch((error: unknown) => {
    context.log('ERROR', `${record.projectId} could not be looked at`, { error });
    return 'it could not be looked at; the log has more';
  });
  if (why === undefined) return candidate;
  const { act: _, ...found } = candidate;
  return { ...found, why, verdict: { remove: false, why, shown: true } };
}

/** Undefined: it goes already. */
function handOver(context: Context, steps: readonly AnyStep[], id: string, record: BootstrapRecord) {
  if (record.state === 'cancelling' && record.removal !== undefined) return undefined;
  const mayGo = (now: BootstrapRecord) => judgeRecord(now, context.clock.now()).remove;
  const again = async () => void (await requestRemoval(context, steps, id, { by: 'cleanup', why: 'expired', mayGo }));
  return again;
}

function readable(document: Document): BootstrapRecord | undefined {
  try {
    return read(document, liftBootstrap)?.data;
  } catch {
    return undefined;
  }
}

function unreadable({ id, data }: Document): Candidate {
  const why = 'its record cannot be read';
  const projectId = typeof data['projectId'] === 'string' ? data['projectId'] : 'unknown';
  return { projectId, bootstrapId: id, why, verdict: { remove: false, why, shown: true } };
}

/** Projects whose labels say that they are ours and late. For each the record is looked up, and decides if there is one. */
async function byLabels(
  context: Context,
  steps: readonly AnyStep[],
  known: ReadonlySet<string>,
  limit: number,
): Promise<{ found: Candidate[]; failed: CleanupFound[]; more: boolean }> {
  const { cloud, clock, config } = context;
  const { defaultParent, deployment } = config;
  if (defaultParent === undefined) return { found: [], failed: [], more: false };
  const query = `parent:${defaultParent} labels.${labels.managed}:true labels.${labels.deployment}:${labelValue(deployment)} state:ACTIVE`;
  const now = clock.now();
  const late = (await cloud.projects.search(query)).filter((project) => {
    // Without a key nothing is proven; what would be kept all the same is not looked at closely.
    const verdict = judgeProject(project, deploymentOf(config, undefined), now);
    return !verdict.remove && verdict.shown;
  });
  const looked = late.filter(({ labels: found }) => !known.has(found?.[labels.bootstrap] ?? '')).slice(0, limit);
  const proofKey = looked.length === 0 ? undefined : await findProofKey(context).catch(() => undefined);
  const found: Candidate[] = [];
  const failed: CleanupFound[] = [];
  for (let i = 0; i < looked.length; i += atOnce) {
    await Promise.all(
      looked.slice(i, i + atOnce).map(async (project) => {
        try {
          const candidate = await ofProject(context, steps, project, proofKey);
          if (candidate !== undefined) found.push(candidate);
        } catch (error) {
          context.log('ERROR', `${project.projectId} could not be judged`, { error });
          failed.push({ projectId: project.projectId, why: 'it could not be judged; the log has more' });
        }
      }),
    );
  }
  return { found, failed, more: late.length > limit };
}

async function ofProject(
  context: Context,
  steps: readonly AnyStep[],
  found: SeenProject,
  proofKey: string | undefined,
): Promise<Candidate | undefined> {
  const { config, clock, cloud } = context;
  const { projectId } = found;
  // Search is a little late: what is on its way out is no candidate.
  const project = await cloud.projects.get(projectId);
  if (project?.state !== 'ACTIVE') return undefined;
  const document = await recordOf(context, project);
  if (document !== undefined) {
    const record = readable(document);
    if (record === undefined) return { ...unreadable(document), projectId };
    const against = contradiction(record, project);
    if (against !== undefined) {
      return {
        ...foundOf(document.id, record, against),
        projectId,
        verdict: { remove: false, why: against, shown: true },
      };
    }
    if (record.state === 'removing') return undefined;
    const verdict = judgeRecord(record, clock.now());
    const candidate = { ...foundOf(document.id, record, verdict.why), verdict };
    if (!verdict.remove) return candidate;
    const act = handOver(context, steps, document.id, record);
    return opposed(context, { ...candidate, act }, document.id, record);
  }
  const judge = (seen: SeenProject) => judgeProject(seen, deploymentOf(config, proofKey), clock.now());
  const verdict = judge(project);
  if (!verdict.remove) return { projectId, why: verdict.why, verdict };
  return {
    projectId,
    why: verdict.why,
    verdict,
    async act() {
      // Read again: labels may have been written since it was found; and a record may have come.
      const now = await cloud.projects.get(projectId);
      const still = now === undefined ? undefined : judge(now);
      if (now === undefined || still?.remove !== true) {
        throw new Problem('conflict', `it changed while it was looked at: ${still?.why ?? 'it is gone'}`);
      }
      if ((await recordOf(context, now)) !== undefined) return;
      await adopt(context, steps, now);
    },
  };
}

/** By what its label says, else by its id: a label can be lost, or another's. */
async function recordOf({ store }: Context, project: SeenProject): Promise<Document | undefined> {
  const id = project.labels?.[labels.bootstrap];
  const named = id === undefined || id === '' ? undefined : await persist(() => store.get(collections.bootstraps, id));
  if (named?.data['projectId'] === project.projectId) return named;
  const [byProject] = await persist(() =>
    store.query({ collection: collections.bootstraps, where: [['projectId', '==', project.projectId]], limit: 1 }),
  );
  return byProject ?? named;
}
