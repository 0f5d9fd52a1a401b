/**
 * Finds bootstraps that cost more than they were admitted at, such as by standard VMs where spot ones were asked for, and warns
 * when they pass what they may cost. One query finds what is due, however many bootstraps live.
 */
import { addSeconds } from '../../shared/add-seconds.js';
import { amountText } from '../../shared/bootstrap/money.js';
import { collections } from '../../shared/names.js';
import type { Context } from '../context.js';
import { spentOf } from '../cost/of-bootstrap.js';
import { type BootstrapRecord, eventId, type StoredBootstrap } from '../engine/record/documents.js';
import { removeAtOf } from '../engine/record/removal-rule.js';
import { spendOf } from '../engine/record/spend.js';
import { transitionWrites } from '../engine/record/transition.js';
import { type Update, updateBootstrap } from '../engine/record/update.js';
import { persist } from '../store/persist.js';
import type { Document, Write } from '../store/store.js';
import { noticeWrite } from '../webhook/notices.js';

const perRun = 200;
const atOnce = 20;
/** A bootstrap that could not be read must not hold up others. */
const putOffSeconds = 3600;

/** How many bootstraps were warned of. */
export async function lookAtFuses(context: Context): Promise<number> {
  const { store, clock, log } = context;
  const due = await persist(() =>
    store.query({
      collection: collections.bootstraps,
      where: [['fuseAt', '<=', clock.now().toISOString()]],
      orderBy: ['fuseAt', 'asc'],
      limit: perRun,
    }),
  );
  let warned = 0;
  for (let i = 0; i < due.length; i += atOnce) {
    const told = await Promise.all(due.slice(i, i + atOnce).map((document) => lookAtOne(context, document)));
    warned += told.filter((each) => each).length;
  }
  if (warned > 0) log('WARNING', `${warned} projects have passed what they may cost`);
  return warned;
}

async function lookAtOne(context: Context, { id, version }: Document): Promise<boolean> {
  const { store, clock, log } = context;
  try {
    const { transition } = await updateBootstrap(context, id, async (standing, at) => decide(context, standing, at));
    return (transition?.events.length ?? 0) > 0;
  } catch (error) {
    log('ERROR', `What ${id} costs could not be looked at`, { bootstrap: id, error });
    const fuseAt = addSeconds(clock.now(), putOffSeconds);
    await store
      .commit([{ kind: 'update', collection: collections.bootstraps, id, version, data: { fuseAt } }])
      .catch(() => undefined);
    return false;
  }
}

/** One commit writes the event, the warning, the next time and the notice. */
function decide({ config }: Context, { id, version, data }: StoredBootstrap, at: string): Update | undefined {
  const { fuseAt: due, ...rest } = data;
  if (due === undefined || due > at) return undefined;
  const found = data.removal !== undefined || data.state === 'removed' ? undefined : judge(config, data, at);
  const passed = found !== undefined && 'text' in found ? found : undefined;
  const fuseAt = found !== undefined && 'nextAt' in found ? found.nextAt : undefined;
  const record: BootstrapRecord = {
    ...rest,
    ...(fuseAt === undefined ? {} : { fuseAt }),
    ...(passed === undefined ? {} : { warnings: [...new Set([...rest.warnings, passed.text])] }),
  };
  const changed = {
    record,
    ready: [],
    events:
      passed === undefined
        ? []
        : [{ event: { schema: 1, type: 'action', at, actor: 'plinth', action: passed.text } as const }],
  };
  const writes = transitionWrites(id, version, data, changed, at);
  if (passed !== undefined && config.webhookUrl !== undefined) writes.push(notice(id, data, at, passed.text));
  return { transition: changed, writes };
}

/** Undefined: nothing limits it, or it ends before it passes its limit. */
function judge(
  { prices, ceilings }: Context['config'],
  data: BootstrapRecord,
  at: string,
): { readonly text: string } | { readonly nextAt: string } | undefined {
  const spent = spentOf(prices, data, new Date(at));
  if (spent === undefined || data.price === undefined) return undefined;
  const { microsAnHour, micros } = spent;
  if (ceilings.microsAnHour !== undefined && microsAnHour > ceilings.microsAnHour) {
    return {
      text: `The project costs ${amountText(microsAnHour)} USD an hour, and ${amountText(ceilings.microsAnHour)} is the most here.`,
    };
  }
  const isMonthly = ceilings.month !== undefined || ceilings.monthOfOwner !== undefined;
  const admitted = Object.values(spendOf(data)).reduce((sum, each) => sum + each, 0);
  const limits = limitsOf(data.price.maxMicros, isMonthly ? admitted : undefined);
  if (limits.length === 0) return undefined;
  const limit = Math.min(...limits);
  if (micros >= limit) {
    return {
      text: `The project has cost ${amountText(micros)} USD by the estimate, and was admitted for ${amountText(limit)}.`,
    };
  }
  if (microsAnHour === 0) return undefined;
  const nextAt = addSeconds(new Date(at), Math.ceil(((limit - micros) / microsAnHour) * 3600));
  return nextAt < removeAtOf(data) ? { nextAt } : undefined;
}

const limitsOf = (...limits: readonly (number | undefined)[]): number[] => limits.flatMap((limit) => limit ?? []);

function notice(
  bootstrapId: string,
  { name, projectId, owner, events }: BootstrapRecord,
  at: string,
  text: string,
): Write {
  const advice = `To stop it: plinth beta bootstrap-cloud cleanup ${projectId}`;
  const data = { bootstrapId, name, projectId, owner, text, advice };
  return noticeWrite(eventId(bootstrapId, events + 1), { type: 'bootstrap.overspent', at, data }, bootstrapId);
}
