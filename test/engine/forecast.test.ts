/** Forecasts learnt from some bootstraps and tried on others, whose cloud is slower. The plan is that of the real steps. */
import { expect } from 'chai';
import { forecast, type Times } from '../../functions/bootstraps/lifetime/forecast.js';
import { shippedSeconds, shippedTable } from '../../functions/bootstraps/lifetime/shipped-seconds.js';
import { graphOf } from '../../functions/engine/graph.js';
import { type Plan, planOf } from '../../functions/engine/plan.js';
import type { BootstrapRecord } from '../../functions/engine/record/documents.js';
import { durationWrites } from '../../functions/engine/record/durations.js';
import { stepsOf } from '../../functions/steps/index.js';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import { createRandom } from '../organizations/random.js';
import { acceptOptions } from '../support/accept-options.js';
import { given } from './world.js';

const planFor = (changes: GivenOptions = {}): Plan =>
  planOf(graphOf(stepsOf({ hosts: true })), {
    options: acceptOptions({ ...given, registryUser: 'me', ...changes }).options,
    machineAccess: 'direct',
  });

const began = Date.parse('2026-11-01T12:00:00Z');
const iso = (seconds: number): string => new Date(began + seconds * 1000).toISOString();

/** A bootstrap as a cloud of this speed would have made it, up to a moment. `speed` varies by a third, each instance by half. */
function play(plan: Plan, seed: number, slower: number, until = Number.POSITIVE_INFINITY) {
  const random = createRandom(seed);
  const speed = slower * (0.85 + 0.3 * random.next());
  const ends = new Map<string, number>();
  const instances: Record<string, BootstrapRecord['instances'][string]> = {};
  for (const { id, step, needs } of plan.values()) {
    const from = Math.max(0, ...needs.map((need) => ends.get(need) ?? 0));
    const end = from + shippedSeconds(step.name) * speed * (0.75 + 0.5 * random.next()) * 1.7;
    ends.set(id, end);
    if (end <= until)
      instances[id] = { state: 'done', attempt: 0, startedAt: iso(from), endedAt: iso(end), output: {} };
    else instances[id] = { state: from <= until ? 'ready' : 'waiting', attempt: 0 };
  }
  const total = Math.max(...ends.values());
  const record = { state: 'succeeded', generation: 1, createdAt: iso(0), endedAt: iso(total), instances };
  return { total, record: record as unknown as BootstrapRecord };
}

function learn(plan: Plan, seeds: readonly number[]): Times[] {
  return seeds.map((seed) => {
    const [write] = durationWrites('b', play(plan, seed, 1).record, plan);
    if (write?.kind !== 'set') throw new Error('nothing was learnt');
    return write.data['seconds'] as Times;
  });
}

const seeds = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

describe('the forecast of a bootstrap', () => {
  const plan = planFor({ installVersion: '1.0.0' });
  const learnt = learn(plan, seeds(1, 20));
  const others = seeds(1000, 50);
  const errorAt = (part: number, slower: number) =>
    others.map((seed) => {
      const { total } = play(plan, seed, slower);
      const at = total * part;
      const { record } = play(plan, seed, slower, at);
      const { p50Seconds } = forecast(plan, learnt, new Date(began + at * 1000), part === 0 ? undefined : record);
      return Math.abs(at + p50Seconds - total) / total;
    });

  for (const slower of [0.87, 1, 1.15]) {
    for (const part of [0, 0.25, 0.5, 0.75]) {
      it(`errs by at most a fifth in the median, ${part * 100} % on its way in a cloud ${slower} times as slow`, () => {
        expect(median(errorAt(part, slower))).to.be.at.most(0.2);
      });
    }
  }

  it('grows better on its way where the cloud has become much slower', () => {
    const [atBegin, half] = [median(errorAt(0, 1.6)), median(errorAt(0.5, 1.6))];
    expect(atBegin).to.be.above(0.2);
    expect(half).to.be.below(atBegin / 2);
  });

  it('takes what is late already for one of the late ones: it neither ends at once nor slows all that follows', () => {
    const usual = learnt[0] ?? {};
    const late = { ...usual, 'vm:k0s-1': 1000 };
    const ends = new Map<string, number>();
    const instances: Record<string, object> = {};
    // All has ended as usual but this VM and what needs it.
    for (const { id, step, needs } of plan.values()) {
      const from = Math.max(0, ...needs.map((need) => ends.get(need) ?? 0));
      const end = id === 'vm:k0s-1' || step.lane === 'host' ? Number.POSITIVE_INFINITY : from + (usual[id] ?? 0);
      ends.set(id, end);
      if (end < Number.POSITIVE_INFINITY) instances[id] = { state: 'done', attempt: 0, endedAt: iso(end), output: {} };
      else instances[id] = { state: id === 'vm:k0s-1' ? 'ready' : 'waiting', attempt: 0 };
    }
    const record = { generation: 1, createdAt: iso(0), instances } as unknown as BootstrapRecord;
    const at = (seconds: number) =>
      forecast(plan, [usual, usual, late], new Date(began + seconds * 1000), record).p50Seconds;
    expect(at(800) - at(900)).to.equal(100);
  });

  it('has nine in ten done by its second figure', () => {
    const { p90Seconds } = forecast(plan, learnt, new Date(began));
    const within = others.filter((seed) => play(plan, seed, 1).total <= p90Seconds).length;
    expect(within / others.length).to.be.within(0.75, 1);
  });

  it('of two datacenters is learnt from those with one', () => {
    const two = planFor({ installVersion: '1.0.0', multiDc: true });
    const errors = others.map((seed) => {
      const { total } = play(two, seed, 1);
      return Math.abs(forecast(two, learnt, new Date(began)).p50Seconds - total) / total;
    });
    expect(median(errors)).to.be.at.most(0.35);
  });

  it('has a table of its own before there is any, and says so', () => {
    const { p50Seconds, p90Seconds, learntFrom } = forecast(plan, [], new Date(began));
    expect(learntFrom).to.equal(0);
    expect(p90Seconds).to.be.above(p50Seconds);
    // What docs/operate/cost.md reckons with.
    expect(p50Seconds / 60).to.be.within(19.5, 20.5);
  });

  it('has steps alone in that table, none of another name', () => {
    const names = new Set(stepsOf({ hosts: true }).map(({ name }) => name));
    expect(Object.keys(shippedTable).filter((name) => !names.has(name))).to.deep.equal([]);
  });

  it('learns nothing from what failed or was resumed', () => {
    const { record } = play(plan, 1, 1);
    expect(durationWrites('b', { ...record, state: 'failed' }, plan)).to.deep.equal([]);
    expect(durationWrites('b', { ...record, generation: 2 }, plan)).to.deep.equal([]);
  });
});
