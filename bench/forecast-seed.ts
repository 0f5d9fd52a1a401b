/**
 * Seeds of the measurement of forecasts, one after the other in a process of their own: `learn <seed>…`, or `try <seed>…` with
 * what was learnt as JSON on stdin. The answers are lines of JSON on stdout.
 */
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Write } from '../functions/store/store.js';
import { people } from '../local/stack/deployment.js';
import type { StackOptions } from '../local/stack/stack.js';
import type { BootstrapSummary } from '../shared/bootstrap/bootstrap.js';
import type { PlanReply } from '../shared/bootstrap/routes.js';
import { collections } from '../shared/names.js';
import { type Bench, createBench, optionsOf, sshPublicKey } from './bootstrap.js';

/** The cloud is four times as fast as the real one. So plinth's CPU time is a small part, whatever else the machine does. */
const timeFactor = 0.25;
const slower = 1.15;
const shifted: StackOptions['worldSettings'] = {
  'pace.compute': slower,
  'pace.dns': slower,
  'delay.project': 10 * slower,
  'delay.service': 40 * slower,
  'delay.serviceOperation': 15 * slower,
};
/** In both clouds, as no deployment learns from a cloud that always has room. It meets one in seven bootstraps of eight VMs. */
const stockouts = { 'chance.stockout': 0.02 } as const;
const options = { spotVms: true };
const name = 'forecast';

interface Sample {
  readonly seconds: number;
  readonly readyIn: number;
}

export interface Tried {
  readonly seconds: number;
  /** On its way, each with what was said then. */
  readonly samples: readonly Sample[];
  readonly p90: number;
  readonly price: { readonly said: number; readonly was: number };
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
  within({ seed, worldSettings: stockouts }, async (bench) => {
    await bench.bootstrap(name, options);
    const [found] = await storeOf(bench).query({ collection: collections.durations });
    if (found === undefined) throw new Error(`Seed ${seed} taught nothing.`);
    return [{ kind: 'set', collection: collections.durations, id: `${name}-${seed}`, data: found.data }];
  });

async function tryOne(seed: number, learnt: readonly Write[]): Promise<Tried> {
  return within({ seed, worldSettings: { ...stockouts, ...shifted } }, async (bench) => {
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
        await sleep(500);
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

const [mode, ...seeds] = process.argv.slice(2);
const learnt = (mode === 'learn' ? [] : JSON.parse(await text(process.stdin))) as readonly Write[];
for (const seed of seeds.map(Number)) {
  const answer = mode === 'learn' ? await learn(seed) : await tryOne(seed, learnt);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
