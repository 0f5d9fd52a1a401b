/**
 * What the next cleanup would do, from its own dry run, and what it leaves alone: quarantined bootstraps, projects without a
 * record, and records without a project. It reads everything that lives, so people may ask for it, but no schedule.
 */
import type { CleanupFound } from '../../shared/bootstrap/cleanup.js';
import type { CleanupSurvey } from '../../shared/bootstrap/survey.js';
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { findProofKey, projectsOf } from '../engine/proof.js';
import { type BootstrapRecord, liftBootstrap, read } from '../engine/record/documents.js';
import { contradiction, deploymentOf, judgeProject, judgeRecord } from '../engine/record/removal-rule.js';
import type { AnyStep, SeenProject } from '../engine/step.js';
import { mapInBatches } from '../host/map-in-batches.js';
import type { Document } from '../store/store.js';
import { cleanup } from './cleanup.js';
import { recordOf } from './labelled-projects.js';
import { objectionTo } from './removal-objection.js';

const atOnce = 20;

interface Known {
  readonly id: string;
  /** Undefined: the record cannot be read. */
  readonly data: BootstrapRecord | undefined;
  readonly projectId: string;
}

export async function survey(context: Context, steps: readonly AnyStep[]): Promise<CleanupSurvey> {
  const { cloud, config } = context;
  const report = await cleanup(context, steps, { dryRun: true });
  // Searched in all parents: a project outside our own parent is removed by its record only, and nothing else would report it.
  const [projects, living, failed] = await Promise.all([
    cloud.projects.search(projectsOf(config.deployment)),
    recordsWhere(context, ['removeAt', '>', '']),
    recordsWhere(context, ['state', '==', 'removal-failed']),
  ]);
  const told = new Set([...report.remove, ...report.keep, ...report.failed].map(({ projectId }) => projectId));
  const quarantined = failed.filter(({ data }) => data?.removal?.quarantinedAt !== undefined);
  const named = new Set([...living, ...failed].map(({ projectId }) => projectId));
  const seen = new Set(projects.map(({ projectId }) => projectId));
  const untold = projects.filter(({ projectId }) => !told.has(projectId) && !named.has(projectId));
  const unseen = living.filter(({ projectId, data }) => !told.has(projectId) && !seen.has(projectId) && isMade(data));
  const late = living.filter(({ projectId }) => !told.has(projectId));
  const putOff = await eachOf(context, late, (record) => keptOf(context, record));
  const withoutRecord = await eachOf(context, untold, (project) => orphanOf(context, project));
  const withoutProject = await eachOf(context, unseen, (record) => lostProjectOf(context, record));
  return {
    ...report,
    keep: [...report.keep, ...putOff.found],
    failed: [...report.failed, ...putOff.failed, ...withoutRecord.failed, ...withoutProject.failed],
    quarantined: quarantined.map(({ id, data, projectId }) =>
      found(projectId, id, data, data === undefined ? '' : judgeRecord(data, context.clock.now()).why),
    ),
    withoutRecord: withoutRecord.found,
    unplanned: living.flatMap(unplannedIn),
    withoutProject: withoutProject.found,
  };
}

const found = (
  projectId: string,
  bootstrapId: string,
  record: BootstrapRecord | undefined,
  why: string,
): CleanupFound => ({ projectId, bootstrapId, ...(record === undefined ? {} : { owner: record.owner }), why });

async function recordsWhere(
  { store }: Context,
  where: readonly [field: string, op: '==' | '>', value: string],
): Promise<Known[]> {
  const documents = await store.query({ collection: collections.bootstraps, where: [where] });
  return documents.map(knownOf);
}

function knownOf(document: Document): Known {
  const { id, data } = document;
  const projectId = String(data['projectId']);
  try {
    return { id, projectId, data: read(document, liftBootstrap)?.data };
  } catch {
    return { id, projectId, data: undefined };
  }
}

function unplannedIn({ id, projectId, data }: Known): CleanupFound[] {
  const { unplanned = [] } = data ?? {};
  const names = unplanned.map(({ name, zone }) => `${name} (${zone})`).join(', ');
  return unplanned.length === 0 ? [] : [found(projectId, id, data, `its plan does not hold the VMs ${names}`)];
}

/** Its project was seen once, and its removal has not begun. */
const isMade = (record: BootstrapRecord | undefined): boolean =>
  record !== undefined && record.removal === undefined && record.instances['project']?.output !== undefined;

interface Looked {
  readonly found: CleanupFound[];
  readonly failed: CleanupFound[];
}

/** A project that cannot be looked at must not hide others. */
async function eachOf<T extends { readonly projectId: string }>(
  { log }: Context,
  all: readonly T[],
  look: (one: T) => Promise<CleanupFound | undefined>,
): Promise<Looked> {
  const looked: Looked = { found: [], failed: [] };
  await mapInBatches(all, atOnce, async (one) => {
    try {
      const seen = await look(one);
      if (seen !== undefined) looked.found.push(seen);
    } catch (error) {
      log('ERROR', `${one.projectId} could not be looked at`, { error });
      looked.failed.push({ projectId: one.projectId, why: 'it could not be looked at; the log has more' });
    }
  });
  return looked;
}

/** Its time is over, but no run looks at it now: an earlier run kept it and looks again after an hour. */
async function keptOf(context: Context, { id, projectId, data }: Known): Promise<CleanupFound | undefined> {
  if (data === undefined) return found(projectId, id, data, 'its record cannot be read');
  if (data.removal !== undefined) return undefined;
  if (!judgeRecord(data, context.clock.now()).remove) return undefined;
  const why = await objectionTo(context, id, data);
  return found(projectId, id, data, why ?? `nothing keeps it any more; it is looked at again at ${data.removeAt}`);
}

async function orphanOf(context: Context, { projectId }: SeenProject): Promise<CleanupFound | undefined> {
  const { cloud, config, clock } = context;
  // The search is a little late: it may still list a project that is being deleted.
  const project = await cloud.projects.get(projectId);
  if (project?.state !== 'ACTIVE') return undefined;
  const document = await recordOf(context, project);
  if (document === undefined) {
    const key = await findProofKey(context).catch(() => undefined);
    return {
      projectId,
      why: `no record knows it; ${judgeProject(project, deploymentOf(config, key), clock.now()).why}`,
    };
  }
  const { id, data } = knownOf(document);
  if (data === undefined) return found(projectId, id, data, 'its record cannot be read');
  const against = contradiction(data, project);
  return against === undefined ? undefined : found(projectId, id, data, against);
}

async function lostProjectOf({ cloud }: Context, { id, projectId, data }: Known): Promise<CleanupFound | undefined> {
  try {
    const project = await cloud.projects.get(projectId);
    if (project?.state === 'ACTIVE') return undefined;
    const why = 'its project was deleted by somebody else, who can restore it for 30 days';
    return found(projectId, id, data, project === undefined ? 'its project is gone' : why);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'cloud-permission') throw error;
    return found(projectId, id, data, 'its project is gone for good, or plinth may not see it any more');
  }
}
