/** Has sweep look at bootstraps that nothing limited before, because a ceiling was set later or a team met one by its migration. */
import type { Context } from '../context.js';
import type { BootstrapRecord, StoredBootstrap } from '../engine/record/documents.js';
import { persist } from '../store/persist.js';
import { Conflict, type Data } from '../store/store.js';
import { isLimitedByMonth, judge, logUnknownCosts } from './overspending.js';

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
  const unwatched = living.filter(({ data }) => isUnwatched(data));
  for (let i = 0; i < unwatched.length; i += atOnce) {
    await Promise.all(unwatched.slice(i, i + atOnce).map((each) => setFuse(context, each, byMonth)));
  }
}

async function setFuse(
  context: Context,
  { id, version, collection, data }: StoredBootstrap,
  byMonth: (data: BootstrapRecord) => Promise<boolean>,
): Promise<void> {
  const { store, clock, config, log } = context;
  try {
    const at = clock.now().toISOString();
    const changed = changeOf(data, judge(config, data, at, await byMonth(data)), config.ceilings.beyond, at);
    if (changed === undefined) return;
    await persist(() => store.commit([{ kind: 'update', collection, id, version, data: changed }]));
  } catch (error) {
    // Whatever changed it had it looked at, or the next hour does.
    if (error instanceof Conflict) {
      return log('DEBUG', `What ${id} may cost is looked at an hour later`, { bootstrap: id });
    }
    logUnknownCosts(context, id, error);
  }
}

const isUnwatched = ({ price, fuseAt, vmsStopped, removal, state }: BootstrapRecord): boolean =>
  price !== undefined && state !== 'removed' && [fuseAt, vmsStopped, removal].every((each) => each === undefined);

/** Undefined: nothing is to be written. */
function changeOf(
  { overspentAt }: BootstrapRecord,
  judged: ReturnType<typeof judge>,
  beyond: Context['config']['ceilings']['beyond'],
  at: string,
): Data | undefined {
  if (judged !== undefined && 'text' in judged) {
    return overspentAt === undefined || beyond === 'stop' ? { fuseAt: at } : undefined;
  }
  // It is told again when it passes a ceiling again.
  return overspentAt === undefined ? judged : { ...judged, overspentAt: undefined };
}
