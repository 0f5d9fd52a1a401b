/** What operators see of pools, and how they drain and fill them. Sweep does the work within a minute. */
import type { PoolsView } from '../../shared/bootstrap/pools.js';
import { collections, countersId } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { liftCounters } from '../engine/record/counts.js';
import { read, type StoredBootstrap } from '../engine/record/documents.js';
import { quota } from '../steps/cloud/quota.js';
import { afterConflict } from '../store/retry.js';
import { Conflict } from '../store/store.js';
import { isFree, membersOf } from './member.js';
import { notesWrite, readNotes } from './notes.js';
import type { Pool } from './setting.js';

const tries = 30;

export async function readPools(context: Pick<Context, 'store' | 'clock' | 'config'>): Promise<PoolsView> {
  const { store, clock, config } = context;
  const [members, notes, counted] = await Promise.all([
    membersOf(context),
    readNotes(context),
    store.get(collections.counters, countersId),
  ]);
  const counters = read(counted, liftCounters)?.data;
  const at = clock.now().toISOString();
  const standing = members.filter(({ data }) => data.removal === undefined && data.state !== 'removed');
  const viewOf = ({ key, parent, billingAccount, region, size }: Pool): PoolsView['pools'][number] => {
    const own = standing.filter(({ data }) => data.pool === key);
    const free = own.filter(({ data }) => isFree(data, at));
    const rest = notes.rests[key];
    return {
      ...{ parent, billingAccount, region, size },
      free: free.length,
      preparing: own.filter(({ data }) => data.state === 'running').length,
      since: own.map(({ data }) => data.createdAt).sort(),
      ...(counters?.pools?.[key] ?? { taken: 0, missed: 0 }),
      limits: limitsOf(free),
      drained: notes.drained.includes(key),
      ...(rest === undefined || rest.until <= at ? {} : { rest }),
    };
  };
  const [projects, bootstraps] = [standing.length, counters?.inAll ?? 0];
  const share = projects === 0 ? 0 : projects / (projects + bootstraps);
  return { pools: config.pools.map(viewOf), projects, bootstraps, share };
}

/** By metric, the lowest limit that the quota step saw. */
function limitsOf(members: readonly StoredBootstrap[]): Record<string, number> {
  const limits: Record<string, number> = {};
  for (const { data } of members) {
    const { data: seen } = quota.output.safeParse(data.instances[quota.name]?.output);
    for (const { metric, limit } of seen?.checked ?? []) limits[metric] = Math.min(limits[metric] ?? limit, limit);
  }
  return limits;
}

/** `drain`: nothing more is made, and what waits is set aside. `fill`: that is over, and no pool rests any more. */
export async function turnPools(context: Context, by: string, way: 'drain' | 'fill'): Promise<PoolsView> {
  const { store, clock, config, log } = context;
  if (config.pools.length === 0) {
    throw new Problem('conflict', 'This deployment has no pools.', {
      advice: 'Whoever deploys it sets them: the variable pools of terraform.',
    });
  }
  for (let attempt = 0; attempt < tries; attempt++) {
    const notes = await readNotes(context);
    const drained = way === 'drain' ? config.pools.map(({ key }) => key) : [];
    const rests = way === 'drain' ? notes.rests : {};
    try {
      await store.commit([notesWrite({ ...notes, drained, rests }, clock.now().toISOString())]);
      log('INFO', `${by}: the pools of prepared projects are to ${way}`);
      return await readPools(context);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      await afterConflict(context, attempt);
    }
  }
  throw new Problem('unavailable', 'The pools change too fast.', { retryAfterSeconds: 2 });
}
