/** Decides what a pool needs: projects to make, to look at again, and to set aside. Pure. */
import { addSeconds } from '../../shared/add-seconds.js';
import type { Config } from '../config.js';
import {
  type BootstrapRecord,
  loadBalancersOf,
  machineAccessOf,
  type StoredBootstrap,
} from '../engine/record/documents.js';
import { isFree } from './member.js';
import type { PoolNotes } from './notes.js';
import type { Pool } from './setting.js';

const lookEverySeconds = 86_400;
/** A project that could not be made is no reason to make and remove one each minute. */
const restSeconds = 3600;
/** In one run. The next run goes on. */
const most = { made: 5, looked: 5 } as const;

export interface Todo {
  /** A pool stands here once for each project to make. */
  readonly make: readonly Pool[];
  readonly look: readonly StoredBootstrap[];
  readonly setAside: readonly { readonly member: StoredBootstrap; readonly why: string }[];
  /** Their removal has begun, so they are no members any more. */
  readonly forget: readonly StoredBootstrap[];
  readonly rests: PoolNotes['rests'];
}

type Terms = Pick<Config, 'machineAccess' | 'sshSourceRanges' | 'loadBalancers'>;

/** What it was begun with is what a bootstrap of today would begin with. */
export const isBegunWith = (
  record: BootstrapRecord,
  { machineAccess, sshSourceRanges, loadBalancers }: Terms,
): boolean =>
  machineAccessOf(record) === machineAccess &&
  loadBalancersOf(record) === loadBalancers &&
  JSON.stringify(record.sshSourceRanges) === JSON.stringify(sshSourceRanges);

export function todoOf(
  { pools, ...terms }: Terms & Pick<Config, 'pools'>,
  members: readonly StoredBootstrap[],
  { rests: before, drained }: PoolNotes,
  now: Date,
): Todo {
  const at = now.toISOString();
  const kept = pools.filter(({ key }) => !drained.includes(key));
  const isGoing = ({ data }: StoredBootstrap) => data.removal !== undefined || data.state === 'removed';
  const living = members.filter((member) => !isGoing(member));
  const bad = living.flatMap((member) => {
    const why = objectionTo(member.data, kept, terms);
    return why === undefined ? [] : [{ member, why }];
  });
  const good = living.filter((member) => !bad.some((each) => each.member === member) && member.data.deadlineAt > at);
  const rests = { ...Object.fromEntries(Object.entries(before).filter(([, { until }]) => until > at)) };
  for (const { member, why } of bad) {
    const { pool, state } = member.data;
    if (pool !== undefined && state === 'failed') rests[pool] = { until: addSeconds(now, restSeconds), why };
  }
  const surplus: Todo['setAside'][number][] = [];
  const make: Pool[] = [];
  for (const pool of kept) {
    const own = good.filter(({ data }) => data.pool === pool.key).sort(oldestFirst);
    const over = own.slice(0, Math.max(0, own.length - pool.size));
    surplus.push(...over.map((member) => ({ member, why: `the pool has more than ${pool.size} projects` })));
    // What is past its time keeps its place until it goes. Where cleanup stands still, the pool does not grow.
    const past = living.filter(({ data }) => data.pool === pool.key && data.deadlineAt <= at);
    const lacking = Math.max(0, pool.size - own.length - past.length);
    if (rests[pool.key] === undefined) make.push(...Array<Pool>(lacking).fill(pool));
  }
  const stale = addSeconds(now, -lookEverySeconds);
  const look = good.filter(
    (member) =>
      member.data.state === 'succeeded' &&
      (member.data.endedAt ?? at) <= stale &&
      !surplus.some((each) => each.member === member),
  );
  return {
    make: make.slice(0, most.made),
    look: look.sort(oldestFirst).slice(0, most.looked),
    setAside: [...bad, ...surplus],
    forget: members.filter(isGoing),
    rests,
  };
}

/** Pools that have nothing to give now, each with its reason. One that an operator drained is empty on purpose. */
export const dryPools = (
  { pools }: Pick<Config, 'pools'>,
  members: readonly StoredBootstrap[],
  { rests, drained }: PoolNotes,
  at: string,
): readonly string[] =>
  pools.flatMap(({ key }) => {
    if (drained.includes(key) || members.some(({ data }) => data.pool === key && isFree(data, at))) return [];
    return [`${key}, ${rests[key]?.why ?? 'its projects are being made'}`];
  });

const oldestFirst = (a: StoredBootstrap, b: StoredBootstrap): number => (a.data.createdAt < b.data.createdAt ? -1 : 1);

function objectionTo(record: BootstrapRecord, pools: readonly Pool[], terms: Terms): string | undefined {
  if (!pools.some(({ key }) => key === record.pool)) return 'no pool wants it any more';
  if (record.state === 'failed') return record.problem?.detail ?? 'it could not be prepared';
  if (record.state !== 'running' && record.state !== 'succeeded') return `it is ${record.state}`;
  return isBegunWith(record, terms) ? undefined : 'the deployment sets up new projects in another way by now';
}
