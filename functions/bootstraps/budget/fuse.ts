/**
 * Finds bootstraps that cost more than they were admitted at, such as by standard VMs where spot ones were asked for. It warns
 * when they pass what they may cost, and stops their VMs where the deployment says so. One query finds what is due, however many
 * bootstraps live.
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
import type { Document, Write } from '../../store/store.js';
import { noticeWrite } from '../../webhook/notices.js';
import { isLimitedByMonth, judge, logUnknownCosts, notToldOf } from './overspending.js';
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
    const { overspentAt: _, overspent: __, ...within } = rest;
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
    overspentAt: at,
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
