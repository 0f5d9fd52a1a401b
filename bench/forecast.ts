/**
 * How far off the minutes and the price are that people see before a bootstrap starts and on its way. The deployment learns
 * from some seeds of the simulated cloud, and is tried on others, in a cloud that is slower and lacks room for spot VMs.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Write } from '../functions/store/store.js';
import { people } from '../local/stack/deployment.js';
import type { StackOptions } from '../local/stack/stack.js';
import type { BootstrapSummary } from '../shared/bootstrap/bootstrap.js';
import type { PlanReply } from '../shared/bootstrap/routes.js';
import { collections } from '../shared/names.js';
import { type Bench, createBench, optionsOf, sshPublicKey } from './bootstrap.js';
import { type Figure, type Measurement, median, quantile } from './figures.js';

/** The cloud is twenty times as fast as the real one; what plinth itself takes is not. */
const timeFactor = 0.05;
const learntSeeds = 10;
const triedSeeds = 50;
const slower = 1.15;
const shifted: StackOptions['worldSettings'] = {
  'pace.compute': slower,
  'pace.dns': slower,
  'delay.project': 10 * slower,
  'delay.service': 40 * slower,
  'delay.serviceOperation': 15 * slower,
  'chance.stockout': 0.1,
};
const options = { spotVms: true };
const name = 'forecast';

interface Sample {
  readonly seconds: number;
  readonly readyIn: number;
}

interface Tried {
  readonly seconds: number;
  /** On its way, each with what was said then. */
  readonly samples: readonly Sample[];
  readonly p90: number;
  readonly price: { readonly said: number; readonly was: number };
}

const seeds = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);

/** One after the other: a process serves one stack at a time. */
async function inTurn<T>(all: readonly number[], one: (seed: number) => Promise<T>): Promise<T[]> {
  const done: T[] = [];
  for (const seed of all) done.push(await one(seed));
  return done;
}

async function within<T>(given: StackOptions, work: (bench: Bench) => Promise<T>): Promise<T> {
  const bench = await createBench({ timeFactor, ...given });
  try {
    return await work(bench);
  } finally {
    await bench.close();
  }
}

const storeOf = ({ stack: { functionsHalf } }: Bench) => {
  if (functionsHalf === undefined) throw new Error('The functions must run here.');
  return functionsHalf.store;
};

const learn = (seed: number): Promise<readonly Write[]> =>
  within({ seed }, async (bench) => {
    await bench.bootstrap(name, options);
    const [found] = await storeOf(bench).query({ collection: collections.durations });
    if (found === undefined) throw new Error(`Seed ${seed} taught nothing.`);
    return [{ kind: 'set', collection: collections.durations, id: `${name}-${seed}`, data: found.data }];
  });

async function tryOne(seed: number, learnt: readonly Write[]): Promise<Tried> {
  return within({ seed, worldSettings: shifted }, async (bench) => {
    await storeOf(bench).commit(learnt);
    const { idToken } = await bench.stack.tokens(people.alice);
    const ask = async <T>(path: string, body?: object): Promise<T> => {
      const reply = await fetch(`${bench.stack.url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${idToken}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!reply.ok) throw new Error(`${path} → ${reply.status} ${await reply.text()}`);
      return (await reply.json()) as T;
    };
    const asked = { options: { ...optionsOf(name), ...options }, sshPublicKey };
    const { forecast, cost } = await ask<PlanReply>('/bootstraps?dryRun=true', asked);
    if (forecast === undefined || forecast.learntFrom !== learnt.length) throw new Error('Nothing was learnt.');
    const samples: Sample[] = [{ seconds: 0, readyIn: forecast.p50Seconds }];
    const began = performance.now();
    const running = { now: true };
    const sampling = (async () => {
      while (running.now) {
        await sleep(200);
        const [found] = await ask<BootstrapSummary[]>(`/bootstraps?name=${name}`);
        const readyIn = found?.forecast?.p50Seconds;
        if (readyIn !== undefined) samples.push({ seconds: (performance.now() - began) / 1000, readyIn });
      }
    })();
    const { milliseconds } = await bench.bootstrap(name, options);
    running.now = false;
    await sampling;
    const [ended] = await ask<BootstrapSummary[]>(`/bootstraps?name=${name}`);
    const [said = Number.NaN, was = Number.NaN] = [cost.perHour, ended?.cost.perHour];
    return { seconds: milliseconds / 1000, samples, p90: forecast.p90Seconds, price: { said, was } };
  });
}

/** The share of the whole time by which the moment of its end was missed, told when that part of it was over. */
const missed = ({ seconds, samples }: Tried, part: number): number => {
  const at = samples.reduce((best, each) =>
    Math.abs(each.seconds - part * seconds) < Math.abs(best.seconds - part * seconds) ? each : best,
  );
  return Math.abs(at.seconds + at.readyIn - seconds) / seconds;
};

function figuresOf(tried: readonly Tried[]): Figure[] {
  const percent = (title: string, values: readonly number[], share: number): Figure => ({
    name: title,
    value: 100 * quantile(values, share),
    unit: '%',
  });
  const within90 = tried.filter(({ seconds, p90 }) => seconds <= p90).length;
  return [
    ...[0, 0.25, 0.5, 0.75].flatMap((part) => {
      const errors = tried.map((each) => missed(each, part));
      const when = part === 0 ? 'before the start' : `${100 * part} % on its way`;
      return [
        percent(`the end missed by, ${when}: median`, errors, 0.5),
        percent('the same: nine in ten', errors, 0.9),
      ];
    }),
    { name: 'ended within what nine in ten were said to take', value: (100 * within90) / tried.length, unit: '%' },
    ...[0.5, 0.9].map((share) =>
      percent(
        `USD an hour as said, from USD an hour as it came: ${share === 0.5 ? 'median' : 'nine in ten'}`,
        tried.map(({ price: { said, was } }) => Math.abs(said - was) / was),
        share,
      ),
    ),
    {
      name: `a bootstrap, the median of ${tried.length}`,
      value: median(tried.map(({ seconds }) => seconds)),
      unit: 's',
    },
  ];
}

export const forecasts: Measurement = {
  name: 'forecast',
  title: `Minutes and price as they are told, of ${triedSeeds} seeds (factor ${timeFactor})`,
  async measure(say) {
    const learnt = (await inTurn(seeds(1, learntSeeds), learn)).flat();
    say(`learnt from ${learnt.length} seeds`);
    let count = 0;
    const tried = await inTurn(seeds(1001, triedSeeds), async (seed) => {
      const found = await tryOne(seed, learnt);
      count += 1;
      say(`${count} of ${triedSeeds}: seed ${seed} took ${found.seconds.toFixed(1)} s`);
      return found;
    });
    return figuresOf(tried);
  },
};
