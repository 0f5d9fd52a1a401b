/**
 * Enforces what bootstraps may cost after they were admitted, such as where standard VMs run in place of spot ones. Sweep looks at
 * those whose time has come, by one query. It warns when one passes what it may cost, and stops its VMs where the deployment
 * says so. The hourly search brings the look forward, because a budget was set or lowered later or a team met one by its
 * migration.
 */
import { addSeconds } from '../../../shared/add-seconds.js';
import { calledBy } from '../../../shared/command-words.js';
import { collections } from '../../../shared/names.js';
import type { Context } from '../../context.js';
import { latestWarnings } from '../../engine/record/bounded.js';
import { type BootstrapRecord, eventId, type StoredBootstrap } from '../../engine/record/documents.js';
import { type Transition, transitionWrites } from '../../engine/record/transition.js';
import { type Update, updateBootstrap } from '../../engine/record/update.js';
import { publishReady } from '../../engine/run/publish.js';
import { mapInBatches } from '../../host/map-in-batches.js';
import { Conflict, type Data, type Document, type Write } from '../../store/store.js';
import { noticeWrite } from '../../webhook/notices.js';
import { isLimitedByMonth, type Judged, judge, logUnknownCosts, notToldOf } from './over-budget.js';
import { anyRuns, stopVms } from './stop-vms.js';

const perRun = 200;
const atOnce = 20;
/** A bootstrap that could not be read must not hold up others. */
const putOffSeconds = 3600;

/** How many bootstraps were warned of. What is to be stopped is sent to the lane at once. */
export async function lookAtFuses(context: Context): Promise<number> {
  const { store, clock, log } = context;
  const due = await store.query({
    collection: collections.bootstraps,
    where: [['fuseAt', '<=', clock.now().toISOString()]],
    orderBy: ['fuseAt', 'asc'],
    limit: perRun,
  });
  const told = await mapInBatches(due, atOnce, (document) => lookAtOne(context, document));
  const warned = told.filter((each) => each).length;
  if (warned > 0) log('WARNING', `${warned} projects have passed what they may cost`);
  return warned;
}

async function lookAtOne(context: Context, { id, version }: Document): Promise<boolean> {
  const { store, clock } = context;
  try {
    let told = false;
    const {
      standing,
      transition,
      free = [],
    } = await updateBootstrap(context, id, async (found, at) => {
      const { passed, update } = await decide(context, found, at);
      told = passed;
      return update;
    });
    const ready = [...(transition?.ready ?? []), ...free];
    await publishReady(context, id, standing.data.generation, ready);
    return told;
  } catch (error) {
    logUnknownCosts(context, id, error);
    const fuseAt = addSeconds(clock.now(), putOffSeconds);
    await store
      .commit([{ kind: 'update', collection: collections.bootstraps, id, version, data: { fuseAt } }])
      .catch(() => undefined);
    return false;
  }
}

interface Decision {
  /** It has passed its limit just now, and people are told. */
  readonly passed: boolean;
  readonly update?: Update;
}

/** One commit writes the event, the warning, the next time and the notice. With the fuse, it also writes that VMs are to stop. */
async function decide(context: Context, found: StoredBootstrap, at: string): Promise<Decision> {
  const { fuseAt: due, ...rest } = found.data;
  if (due === undefined || due > at) return { passed: false };
  if (rest.removal !== undefined || rest.state === 'removed')
    return { passed: false, update: written(found, rest, at) };
  if (rest.vmsStopped !== undefined) {
    const isOver = rest.vmsStopped.begun === true && !anyRuns(rest);
    return { passed: false, update: isOver ? written(found, rest, at) : await stopVms(context, found, rest, at) };
  }
  const judged = judge(context.config, rest, at, await isLimitedByMonth(context, rest));
  const { passed, ...next } = judged;
  if (passed.length === 0) {
    // It is told again when it passes a ceiling again.
    const { overspent: _, ...within } = rest;
    return { passed: false, update: written(found, { ...within, ...next }, at) };
  }
  const record = { ...rest, overspent: passed.map(({ limit }) => limit) };
  const notTold = notToldOf(judged, rest, context.config.ceilings);
  // A VM that was looked at again, or a later end, changes nothing of what has been told.
  if (notTold.length === 0) return { passed: false, update: written(found, { ...record, ...next }, at) };
  const why = notTold.map(({ text }) => text).join(' ');
  return { passed: true, update: await passing(context, found, record, next, at, why) };
}

function written(
  { id, version, data }: StoredBootstrap,
  record: BootstrapRecord,
  at: string,
  events: Transition['events'] = [],
): Update {
  const changed = { record, ready: [], events };
  return { transition: changed, writes: transitionWrites(id, version, data, changed, at) };
}

async function passing(
  context: Context,
  found: StoredBootstrap,
  rest: BootstrapRecord,
  next: Pick<BootstrapRecord, 'fuseAt'>,
  at: string,
  why: string,
): Promise<Update> {
  const { id, data } = found;
  const { ceilings, webhookUrl } = context.config;
  const stops = ceilings.beyond === 'stop';
  const advice = stops ? goOn(data) : `To stop it: plinth beta bootstrap-cloud cleanup ${calledBy(data)}`;
  const text = stops ? `${why} Its VMs are stopped${data.state === 'running' ? ', half-way' : ''}.` : why;
  const action = stops ? `${text} ${advice}` : text;
  const record = {
    ...rest,
    warnings: latestWarnings(rest.warnings, [action]),
    ...(stops ? { vmsStopped: { at, why, advice } } : next),
  };
  const events = [{ event: { schema: 1, type: 'action', at, actor: 'plinth', action } as const }];
  const update = stops ? await stopVms(context, found, record, at, events) : written(found, record, at, events);
  if (webhookUrl === undefined) return update;
  return { ...update, writes: [...update.writes, notice(id, data, { at, text, advice, vmsStopped: stops })] };
}

const goOn = ({ name, projectId, price }: BootstrapRecord): string =>
  [
    `Once the ceiling is raised${price?.maxMicros === undefined ? '' : ', or --max-cost'}: plinth beta bootstrap-cloud restart-vms ${calledBy({ name, projectId })}.`,
    'Disks and addresses still cost, and its time to live goes on.',
  ].join(' ');

function notice(
  bootstrapId: string,
  { name, projectId, owner, events }: BootstrapRecord,
  {
    at,
    ...said
  }: { readonly at: string; readonly text: string; readonly advice: string; readonly vmsStopped: boolean },
): Write {
  const data = { bootstrapId, name, projectId, owner, ...said };
  return noticeWrite(eventId(bootstrapId, events + 1), { type: 'bootstrap.overspent', at, data }, bootstrapId);
}

/**
 * `living`: as they were just read. What has been told is not told again while it lasts. Where VMs are to be stopped, that it
 * was told counts for nothing. Never throws: what can't be looked at is logged, and the next hour looks again.
 */
export async function setFuses(context: Context, living: readonly StoredBootstrap[]): Promise<void> {
  const limited = new Map<number | undefined, Promise<boolean>>();
  /** By one look a team. */
  const byMonth = (data: BootstrapRecord): Promise<boolean> => {
    const found = limited.get(data.team) ?? isLimitedByMonth(context, data);
    limited.set(data.team, found);
    return found;
  };
  const at = context.clock.now().toISOString();
  const looked = living.filter(({ data }) => mayPass(data, at));
  await mapInBatches(looked, atOnce, (each) => setFuse(context, each, byMonth));
}

async function setFuse(
  context: Context,
  { id, version, collection, data }: StoredBootstrap,
  byMonth: (data: BootstrapRecord) => Promise<boolean>,
): Promise<void> {
  const { store, clock, config, log } = context;
  try {
    const at = clock.now().toISOString();
    const changed = changeOf(data, judge(config, data, at, await byMonth(data)), config.ceilings, at);
    if (changed === undefined) return;
    await store.commit([{ kind: 'update', collection, id, version, data: changed }]);
  } catch (error) {
    // Whatever changed it had it looked at, or the next hour does.
    if (error instanceof Conflict) {
      return log('DEBUG', `What ${id} may cost is looked at an hour later`, { bootstrap: id });
    }
    logUnknownCosts(context, id, error);
  }
}

/** It is not on its way down, and sweep does not look at it by itself just now. */
const mayPass = ({ price, fuseAt, vmsStopped, removal, state }: BootstrapRecord, at: string): boolean =>
  price !== undefined &&
  state !== 'removed' &&
  vmsStopped === undefined &&
  removal === undefined &&
  (fuseAt === undefined || fuseAt > at);

/** Undefined: nothing is to be written. */
function changeOf(
  data: BootstrapRecord,
  judged: Judged,
  ceilings: Context['config']['ceilings'],
  at: string,
): Data | undefined {
  if (notToldOf(judged, data, ceilings).length > 0) return { fuseAt: at };
  const { overspent } = data;
  const limits = judged.passed.map(({ limit }) => limit);
  const earlier =
    judged.fuseAt !== undefined && isEarlier(judged.fuseAt, data.fuseAt) ? { fuseAt: judged.fuseAt } : undefined;
  // It is told again when it passes a ceiling again.
  if (limits.length > 0) return limits.length < (overspent?.length ?? 0) ? { ...earlier, overspent: limits } : earlier;
  return overspent === undefined ? earlier : { ...earlier, overspent: undefined };
}

/** The same look an hour later is a few seconds off, and sweep comes once a minute. What is later is found out when it is due. */
const isEarlier = (at: string, than: string | undefined): boolean =>
  than === undefined || addSeconds(new Date(at), 60) < than;
