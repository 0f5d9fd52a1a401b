/**
 * Forecasts how long a bootstrap takes: the longest chain through its plan, by the times of each earlier bootstrap in turn. The
 * median of these chains is the forecast. So machines that were slow together stay slow together.
 */
import type { Forecast } from '../../../shared/bootstrap/forecast.js';
import { collections } from '../../../shared/names.js';
import type { Context } from '../../context.js';
import type { Plan } from '../../engine/plan.js';
import type { BootstrapRecord } from '../../engine/record/documents.js';
import { read } from '../../engine/record/documents.js';
import { liftDurations } from '../../engine/record/durations.js';
import type { Store } from '../../store/store.js';
import { shippedSeconds } from './shipped-seconds.js';

/** The times of one bootstrap, by instance. */
export type Times = Readonly<Record<string, number>>;

const mostLearnt = 40;
const freshMs = 600_000;
const cache = new WeakMap<Store, { readonly at: number; readonly times: Promise<readonly Times[]> }>();

/** The times of the latest bootstraps of this deployment. They are kept for ten minutes. */
export async function learntTimes({ store, clock }: Pick<Context, 'store' | 'clock'>): Promise<readonly Times[]> {
  const at = clock.now().getTime();
  const known = cache.get(store);
  if (known !== undefined && at - known.at < freshMs) return known.times;
  const times = store
    .query({ collection: collections.durations, orderBy: ['endedAt', 'desc'], limit: mostLearnt })
    .then((found) =>
      found.flatMap((document): Times[] => {
        const learnt = read(document, liftDurations);
        return learnt === undefined ? [] : [learnt.data.seconds];
      }),
    );
  // A deployment without any learns from its first one at once.
  times.then(
    (learnt) => learnt.length === 0 && cache.delete(store),
    () => cache.delete(store),
  );
  cache.set(store, { at, times });
  return times;
}

type Progressed = Pick<BootstrapRecord, 'instances' | 'createdAt' | 'generation'>;

/** From now on. Without a record nothing is done yet. */
export function forecast(plan: Plan, learnt: readonly Times[], now: Date, record?: Progressed): Forecast {
  const samples = learnt.length === 0 ? shippedTimes : learnt.map((times) => timesOf(times));
  const late = lateOf(learnt);
  const chains = samples.map((of) => remaining(plan, { of, late }, now, record)).sort((a, b) => a - b);
  const at = (part: number) =>
    Math.round(chains[Math.min(chains.length - 1, Math.ceil(part * chains.length) - 1)] ?? 0);
  return { p50Seconds: at(0.5), p90Seconds: at(0.9), learntFrom: learnt.length };
}

type TimeOf = (id: string, step: string) => number;

function bySteps(all: readonly Times[]): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  for (const [id, seconds] of all.flatMap((times) => Object.entries(times))) {
    const step = id.replace(/:.*$/, '');
    const known = found.get(step) ?? [];
    known.push(seconds);
    found.set(step, known);
  }
  return found;
}

/** A key that this bootstrap did not have takes as long as the others of the step. */
function timesOf(times: Times): TimeOf {
  const others = bySteps([times]);
  return (id, step) => times[id] ?? medianOf(others.get(step) ?? []) ?? shippedSeconds(step);
}

/** What an instance takes in all that has taken so long already: as half of those did that took longer. */
function lateOf(learnt: readonly Times[]): (step: string, spent: number) => number {
  const all = bySteps(learnt);
  return (step, spent) => medianOf((all.get(step) ?? []).filter((seconds) => seconds > spent)) ?? spent;
}

/** Without any bootstrap to learn from, it may take half as long or nearly twice as long. */
const shippedTimes: readonly TimeOf[] = [0.6, 0.8, 1, 1.2, 1.4, 1.8].map(
  (by) => (_, step) => by * shippedSeconds(step),
);

function remaining(
  plan: Plan,
  { of: timeOf, late }: { readonly of: TimeOf; readonly late: ReturnType<typeof lateOf> },
  now: Date,
  record: Progressed | undefined,
): number {
  const pace = record === undefined ? 1 : paceOf(plan, timeOf, record);
  const ends = new Map<string, number>();
  let longest = 0;
  for (const { id, step, needs } of plan.values()) {
    const instance = record?.instances[id];
    const before = Math.max(0, ...needs.map((need) => ends.get(need) ?? 0));
    const since = instance?.startedAt ?? (instance?.state === 'ready' ? readyAt(needs, record) : undefined);
    const spent = since === undefined ? 0 : Math.max(0, (now.getTime() - Date.parse(since)) / 1000);
    const usual = timeOf(id, step.name) * pace;
    const whole = spent <= usual ? usual : late(step.name, spent / pace) * pace;
    const end = instance?.state === 'done' ? 0 : before + Math.max(0, whole - spent);
    ends.set(id, end);
    longest = Math.max(longest, end);
  }
  return longest;
}

const readyAt = (needs: readonly string[], record: Progressed | undefined): string | undefined =>
  record && [record.createdAt, ...needs.flatMap((need) => record.instances[need]?.endedAt ?? [])].sort().at(-1);

const usualShare = 0.05;

/**
 * How much slower than then it has been so far: half of the time went to what was no slower than that. So one that was tried
 * again says little of the others.
 */
function paceOf(plan: Plan, timeOf: TimeOf, record: Progressed): number {
  if (record.generation !== 1) return 1;
  const done = [...plan.values()].flatMap(({ id, step, needs }) => {
    const { state, endedAt } = record.instances[id] ?? {};
    const from = readyAt(needs, record);
    if (state !== 'done' || endedAt === undefined || from === undefined) return [];
    const usual = timeOf(id, step.name);
    if (usual === 0) return [];
    return [{ usual, ratio: Math.max(0, Date.parse(endedAt) - Date.parse(from)) / 1000 / usual }];
  });
  const whole = [...plan.values()].reduce((sum, { id, step }) => sum + timeOf(id, step.name), 0);
  // So much speaks for the usual pace that the quick steps at the beginning, which mostly wait for a function, don't outweigh it.
  done.push({ usual: usualShare * whole, ratio: 1 });
  const half = done.reduce((sum, { usual }) => sum + usual, 0) / 2;
  let sum = 0;
  for (const { usual, ratio } of done.sort((a, b) => a.ratio - b.ratio)) {
    sum += usual;
    if (sum >= half) return Math.min(3, Math.max(1 / 3, ratio));
  }
  return 1;
}

function medianOf(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
