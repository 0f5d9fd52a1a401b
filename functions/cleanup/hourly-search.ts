/**
 * Looks each hour for what costs money and stands in no plan: projects with the labels of this deployment that no record knows,
 * and VMs in projects of bootstraps that their plans don't hold. It tells each once, and changes none. It also has the fuse look
 * at what a new ceiling limits.
 */
import { addSeconds } from '../../shared/add-seconds.js';
import { collections, labels } from '../../shared/names.js';
import { setFuses } from '../bootstraps/budget/enforce.js';
import type { Project } from '../cloud/projects.js';
import type { Context } from '../context.js';
import { ownerLabel, projectsOf } from '../engine/proof.js';
import {
  liftBootstrap,
  liftSearch,
  read,
  type SearchRecord,
  type StoredBootstrap,
} from '../engine/record/documents.js';
import { numberOf } from '../engine/record/removal-rule.js';
import { mapInBatches } from '../host/map-in-batches.js';
import { Conflict, type Document, type Write } from '../store/store.js';
import { noticeWrite } from '../webhook/notices.js';
import { recordOf } from './labelled-projects.js';
import { lookAtMachines } from './unplanned-machines.js';

const searchId = 'unknown-projects';
const everySeconds = 3600;
const atOnce = 10;
/** How many projects are told at once. More are told an hour later. */
const perRun = 100;
/** How many are remembered at once. A further one is told when another has gone. */
const mostTold = 2000;

type Log = Context['log'];

/** Undefined: the last search is less than an hour old, or another run has just begun one. */
export async function searchHourly(
  context: Context,
): Promise<{ readonly projects: number; readonly machines: number } | undefined> {
  const place = { collection: collections.passes, id: searchId };
  const before = read(await context.store.get(place.collection, place.id), liftSearch);
  const at = context.clock.now().toISOString();
  if (before !== undefined && addSeconds(new Date(before.data.at), everySeconds) > at) return undefined;
  // Written first, so that a search that fails costs its calls once an hour, too.
  const begun: SearchRecord = { schema: 1, at, told: before?.data.told ?? [] };
  const version = await committed(context, {
    kind: before === undefined ? 'create' : 'update',
    ...place,
    ...(before === undefined ? {} : { version: before.version }),
    data: begun,
  } as Write);
  if (version === undefined) return undefined;
  const living = await livingOf(context);
  const [projects] = await Promise.all([searched(context), setFuses(context, living)]);
  const unknown = await withoutRecord(context, projects, living, begun.told);
  await tellProjects(context, { ...place, version, data: begun }, unknown, living);
  const seen = new Set(projects.map(({ projectId }) => projectId));
  const machines = await lookAtMachines(
    context,
    living.filter(({ data }) => seen.has(data.projectId)),
  );
  return { projects: unknown.length, machines };
}

/** One search over all parents that this function may see. */
const searched = ({ cloud, config }: Context): Promise<Project[]> =>
  cloud.projects.search(projectsOf(config.deployment));

async function livingOf({ store, log }: Context): Promise<StoredBootstrap[]> {
  const documents = await store.query({ collection: collections.bootstraps, where: [['removeAt', '>', '']] });
  return documents.flatMap((document) => readable(document, log));
}

function readable(document: Document, log: Log): StoredBootstrap[] {
  try {
    const found = read(document, liftBootstrap);
    return found === undefined ? [] : [found];
  } catch (error) {
    log('WARNING', `The record ${document.id} cannot be read, so its machines are not looked at`, { error });
    return [];
  }
}

async function withoutRecord(
  context: Context,
  projects: readonly Project[],
  living: readonly StoredBootstrap[],
  told: readonly string[],
): Promise<Project[]> {
  const named = new Set(living.map(({ data }) => data.projectId));
  const others = projects.filter(({ projectId }) => !named.has(projectId));
  const isTold = ({ projectId }: Project): boolean => told.includes(projectId);
  const before = others.filter(isTold);
  const room = Math.min(perRun, Math.max(0, mostTold - before.length));
  const looked = [...before, ...others.filter((each) => !isTold(each)).slice(0, room)];
  const unknown: Project[] = [];
  await mapInBatches(looked, atOnce, async (project) => {
    if ((await recordOf(context, project)) !== undefined) return;
    // The search is a little late: it may still list a project that is being deleted.
    const now = await context.cloud.projects.find(project.projectId);
    if (now?.state === 'ACTIVE') unknown.push(now);
  });
  return unknown;
}

interface Search {
  readonly collection: string;
  readonly id: string;
  readonly version: string;
  readonly data: SearchRecord;
}

/** One commit writes what is told and the notices, so that nothing is told twice. */
async function tellProjects(
  context: Context,
  { data, ...place }: Search,
  unknown: readonly Project[],
  living: readonly StoredBootstrap[],
): Promise<void> {
  const { config, log } = context;
  const told = unknown.map(({ projectId }) => projectId).sort();
  const fresh = unknown.filter(({ projectId }) => !data.told.includes(projectId));
  if (fresh.length === 0 && told.length === data.told.length) return;
  const owners = new Map(living.map(({ data: { owner } }) => [ownerLabel(owner), owner]));
  const facts = fresh.map((project) => factsOf(project, owners));
  const notices = facts.map((fact) =>
    noticeWrite(`unknown-${fact.projectNumber}-${Date.parse(data.at)}`, {
      type: 'project.unknown',
      at: data.at,
      data: fact,
    }),
  );
  const written = await committed(
    context,
    { kind: 'update', ...place, data: { told } },
    config.webhookUrl === undefined ? [] : notices,
  );
  if (written === undefined) return;
  for (const fact of facts) {
    log('WARNING', `The project ${fact.projectId} bears the labels of this deployment, and no record knows it`, fact);
  }
}

function factsOf(project: Project, owners: ReadonlyMap<string, string>) {
  const { projectId, parent = 'none' } = project;
  const owner = owners.get(project.labels?.[labels.owner] ?? '');
  return {
    projectId,
    projectNumber: numberOf(project),
    parent,
    // Known only if the owner has another bootstrap: the label is a hash.
    ...(owner === undefined ? {} : { owner }),
    text: `No record knows the project ${projectId} in ${parent}, which bears the labels of this deployment.`,
    advice: `An operator removes it: plinth beta cleanup remove ${projectId}. Or somebody gets it, by “plinth help beta cleanup take-in”.`,
  };
}

/** The new version of the first document. Undefined: another run was faster. */
async function committed({ store }: Context, first: Write, more: readonly Write[] = []): Promise<string | undefined> {
  try {
    return (await store.commit([first, ...more]))[0];
  } catch (error) {
    if (error instanceof Conflict) return undefined;
    throw error;
  }
}
