/**
 * Has sweep look at bootstraps earlier than their records say, because a ceiling was set or lowered later or a team met one by
 * its migration.
 */
import { addSeconds } from '../../../shared/add-seconds.js';
import type { Context } from '../../context.js';
import type { BootstrapRecord, StoredBootstrap } from '../../engine/record/documents.js';
import { mapInBatches } from '../../host/map-in-batches.js';
import { Conflict, type Data } from '../../store/store.js';
import { isLimitedByMonth, type Judged, judge, logUnknownCosts, notToldOf } from './overspending.js';

const atOnce = 20;

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
  const { overspentAt, overspent = [] } = data;
  const limits = judged.passed.map(({ limit }) => limit);
  const earlier =
    judged.fuseAt !== undefined && isEarlier(judged.fuseAt, data.fuseAt) ? { fuseAt: judged.fuseAt } : undefined;
  // It is told again when it passes a ceiling again.
  if (limits.length > 0) return limits.length < overspent.length ? { ...earlier, overspent: limits } : earlier;
  return overspentAt === undefined ? earlier : { ...earlier, overspentAt: undefined, overspent: undefined };
}

/** The same look an hour later is a few seconds off, and sweep comes once a minute. What is later is found out when it is due. */
const isEarlier = (at: string, than: string | undefined): boolean =>
  than === undefined || addSeconds(new Date(at), 60) < than;
