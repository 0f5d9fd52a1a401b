/**
 * Finds a prepared project for a bootstrap that begins, and makes of its record the caller's. The commit against the member's
 * version decides who gets it, so none is claimed twice.
 */
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { collections } from '../../shared/names.js';
import type { Config } from '../config.js';
import type { Context } from '../context.js';
import { graphOf } from '../engine/graph.js';
import { planOf } from '../engine/plan.js';
import type { Counts } from '../engine/record/counts.js';
import {
  type BootstrapRecord,
  liftBootstrap,
  machineAccessOf,
  optionsOf,
  read,
  type StoredBootstrap,
} from '../engine/record/documents.js';
import type { AnyStep } from '../engine/step.js';
import { parentIn } from '../steps/cloud/project-place.js';
import type { Store } from '../store/store.js';
import { isFree, membersOf, setAside } from './member.js';
import { type Pool, poolKey } from './setting.js';
import { isBegunWith } from './todo.js';

/** The pool whose projects are where the options want one. Undefined: none is. */
export function poolFor(config: Config, options: BootstrapOptions): Pool | undefined {
  if (config.pools.length === 0) return undefined;
  const { billingAccount, region } = options;
  const key = poolKey({ parent: parentIn(config, options), billingAccount, region });
  return config.pools.find((pool) => pool.key === key);
}

/** Members that bootstraps of this process are about to claim. Others would only lose the race for them. */
const wanted = new WeakMap<Store, Set<string>>();

const wantedIn = (store: Store): Set<string> => {
  const ids = wanted.get(store) ?? new Set<string>();
  wanted.set(store, ids);
  return ids;
};

/** Where so many do not stand, the next hardly does. The caller waits for each look. */
const mostPassedOver = 5;

/** The oldest that stands and that nobody in this process wants. `release` it when it is claimed or not wanted any more. */
export async function findMember(context: Context, pool: Pool): Promise<StoredBootstrap | undefined> {
  const taken = wantedIn(context.store);
  let passedOver = 0;
  for (const member of await freeMembers(context, pool)) {
    if (passedOver === mostPassedOver) return undefined;
    if (taken.has(member.id)) continue;
    taken.add(member.id);
    let stands = false;
    try {
      stands = await isStanding(context, member);
    } finally {
      if (!stands) release(context, member.id);
    }
    if (stands) return member;
    passedOver += 1;
  }
  return undefined;
}

/**
 * Somebody may have deleted it by hand since the daily look. Then it is set aside. One that plinth cannot see is only passed
 * over: rights may be what is missing, and the daily look tells. Where Google does not say, it is taken to stand: its steps look
 * again, and wait.
 */
async function isStanding(context: Context, member: StoredBootstrap): Promise<boolean> {
  const { id: bootstrap, data } = member;
  try {
    const found = await context.cloud.projects.find(data.projectId);
    if (found?.state === 'ACTIVE') return true;
    if (found === undefined) return false;
  } catch (error) {
    context.log('WARNING', `It is not known whether the prepared project ${data.projectId} stands`, {
      bootstrap,
      error,
    });
    return true;
  }
  await setAside(context, member, 'somebody deleted its project');
  return false;
}

/** The oldest first. */
async function freeMembers(
  { store, config, clock }: Pick<Context, 'store' | 'config' | 'clock'>,
  pool: Pool,
): Promise<StoredBootstrap[]> {
  const at = clock.now().toISOString();
  const members = await membersOf({ store }, pool.key);
  return members
    .filter(({ data }) => isFree(data, at) && isBegunWith(data, config))
    .sort((a, b) => (a.data.createdAt < b.data.createdAt ? -1 : 1));
}

export const release = ({ store }: Pick<Context, 'store'>, id: string): void => void wantedIn(store).delete(id);

/** As it is now. Undefined: somebody else has it, or it is set aside. */
export async function stillFree(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  id: string,
): Promise<StoredBootstrap | undefined> {
  const found = read(await store.get(collections.bootstraps, id), liftBootstrap);
  return found !== undefined && isFree(found.data, clock.now().toISOString()) ? found : undefined;
}

/** Its removal may have removed its secrets before ours was written, and looks for them no more. */
export async function isGoneUnclaimed({ store }: Pick<Context, 'store'>, id: string): Promise<boolean> {
  const found = read(await store.get(collections.bootstraps, id), liftBootstrap);
  if (found === undefined || found.data.state === 'removed') return true;
  return found.data.removal !== undefined && found.data.prepared?.claimedAt === undefined;
}

/** Ids of instances that stand as the new record wants them: their steps keep what describes the same. */
export function keptOf(
  steps: readonly AnyStep[],
  member: BootstrapRecord,
  options: BootstrapOptions,
): ReadonlySet<string> {
  const machineAccess = machineAccessOf(member);
  const facts = { options: optionsOf(member), machineAccess, unclaimed: true };
  const kept = [...planOf(graphOf(steps), facts).values()].filter(({ id, step, key }) => {
    const describes = (of: BootstrapOptions) => JSON.stringify(step.describe(of, key, machineAccess));
    return (
      step.prepares === 'kept' &&
      member.instances[id]?.state === 'done' &&
      describes(options) === describes(facts.options)
    );
  });
  return new Set(kept.map(({ id }) => id));
}

/** Counts how often a pool had a project for a bootstrap that it is for. Pools that are set no more are forgotten. */
export function countPool(
  { pools }: Pick<Config, 'pools'>,
  counts: Counts,
  pool: Pool | undefined,
  taken: boolean,
): Counts {
  if (pool === undefined) return counts;
  const { all } = counts;
  const before = Object.entries(all.pools ?? {}).filter(([each]) => pools.some(({ key }) => key === each));
  const own = all.pools?.[pool.key] ?? { taken: 0, missed: 0 };
  const after = taken ? { ...own, taken: own.taken + 1 } : { ...own, missed: own.missed + 1 };
  return { ...counts, all: { ...all, pools: { ...Object.fromEntries(before), [pool.key]: after } } };
}
