/**
 * What a prepared project saves. Bootstraps that claim one take turns with others that make their own, in the same stack: the
 * region decides. A claimed one is judged by the longest chain of the cold ones.
 */
import { liftBootstrap, read } from '../functions/engine/record/documents.js';
import { stepsOf } from '../functions/steps/index.js';
import { schedulerHeaders } from '../local/functions/front-end.js';
import { functionUrl, local } from '../local/stack/deployment.js';
import type { StackOptions } from '../local/stack/stack.js';
import type { GivenOptions } from '../shared/bootstrap/options.js';
import { collections, functionNames } from '../shared/names.js';
import { type Bench, type Bootstrapped, createBench, planOfBootstrap, warmUp } from './bootstrap.js';
import { onEmulators } from './emulators.js';
import { type Figure, type Measurement, median, part } from './figures.js';
import { chainOfInstall } from './installs.js';
import { cloudSpans, covered, longestChain } from './longest-chain.js';
import { createPackagedBench } from './packaged.js';
import { watchTurns } from './turns.js';

/** The cloud is twenty times as fast as the real one. */
const timeFactor = 0.05;
/** Machines always run at their own speed. With a slower cloud, its part of an install is what it is of a real one. */
const installFactors = [timeFactor, 0.5] as const;
/** Google's own delays, as many times their usual. */
const paces = [0.5, 1, 2] as const;
const rounds = 3;
const claims = 20;
/** For the longest of them. */
const mostMilliseconds = 1000;
/** For a machine that has much else to do. */
const patienceSeconds = 300;

const prepared = { region: 'europe-west4' } as const;
/** No pool is for it. */
const cold = { region: 'europe-west1' } as const;

const withPool = (size: number): NonNullable<StackOptions['settings']> => ({
  PLINTH_POOLS: JSON.stringify([{ parent: local.folder, billingAccount: local.billingAccount, ...prepared, size }]),
});

type Say = (text: string) => void;

/** As Cloud Scheduler has sweep called, until nothing more is made. */
async function fill({ stack }: Bench, say: Say = () => {}): Promise<void> {
  const url = functionUrl(stack.functionsHalf?.origin ?? '', functionNames.sweep);
  for (let run = 0, all = 0; run < 100; run++) {
    const { cloud } = stack.cloudHalf ?? {};
    if (cloud === undefined) throw new Error('The cloud must run here.');
    const reply = await fetch(url, { method: 'POST', headers: await schedulerHeaders(cloud.identity, url) });
    const { pools } = (await reply.json()) as { readonly pools: { readonly made: number } };
    await stack.settle(patienceSeconds);
    if (pools.made === 0) return;
    all += pools.made;
    say(`  ${all} projects are prepared`);
  }
  throw new Error('The pool is never full.');
}

const isClaimed = ({ projectId }: Bootstrapped): boolean => projectId.startsWith('pool-');

interface Timed {
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

/** When each instance of its last generation began and ended, in milliseconds after the request. */
async function timesOf({ stack }: Bench, { id }: Bootstrapped, begunAt: number): Promise<Timed[]> {
  const found = await stack.functionsHalf?.store.get(collections.bootstraps, id);
  const instances = Object.entries(read(found, liftBootstrap)?.data.instances ?? {});
  return instances.flatMap(([instance, { startedAt = '', endedAt = '' }]) => {
    const [from, to] = [Date.parse(startedAt) - begunAt, Date.parse(endedAt) - begunAt];
    return from >= 0 ? [{ id: instance, from, to }] : [];
  });
}

async function round(bench: Bench, name: string, options: GivenOptions) {
  const begunAt = Date.now();
  const made = await bench.bootstrap(name, options);
  const times = await timesOf(bench, made, begunAt);
  const ready = Math.max(...times.filter(({ id }) => /^(?:config|secrets):/.test(id)).map(({ to }) => to));
  return { made, times, ready };
}

/** The last ones first: what a claimed bootstrap waits for. */
const timeline = (times: readonly Timed[]): string =>
  [...times]
    .sort((a, b) => b.to - a.to)
    .map(({ id, from, to }) => `${id} ${from.toFixed(0)}–${to.toFixed(0)}`)
    .join(', ');

async function ready(pace: number, say: Say): Promise<Figure> {
  const bench = await createBench({ timeFactor: timeFactor * pace, settings: withPool(1) });
  try {
    const [claimed, chains]: [number[], number[]] = [[], []];
    for (let count = 0; count <= rounds; count++) {
      const own = await round(bench, `cold-${count}`, cold);
      const plan = await planOfBootstrap(bench, own.made.id, stepsOf({ hosts: false }));
      const cloud = bench.stack.cloudHalf?.cloud;
      if (cloud === undefined) throw new Error('The cloud must run here.');
      const spans = cloudSpans(cloud, own.made);
      const chain = longestChain(plan, (instance) => covered(spans.get(instance) ?? []));
      await bench.stack.settle(patienceSeconds);
      await fill(bench);
      const taken = await round(bench, `claimed-${count}`, prepared);
      if (!isClaimed(taken.made) || isClaimed(own.made)) throw new Error('The pool gave to the wrong one.');
      await bench.stack.settle(patienceSeconds);
      say(
        `delays × ${pace}, ${count === 0 ? 'not counted' : `round ${count}`}: claimed ${taken.ready} ms, cold ${own.ready} ms, longest cold chain ${chain.milliseconds.toFixed(0)} ms`,
      );
      if (count === 0) continue;
      if (count === 1) say(`  claimed, ms after the request: ${timeline(taken.times)}`);
      claimed.push(taken.ready);
      chains.push(chain.milliseconds);
    }
    return {
      name: `config and secrets ready in a claimed project, delays × ${pace}: the median of ${rounds}`,
      value: median(claimed),
      unit: 'ms',
      baseline: { name: 'longest cold chain', value: median(chains), unit: 'ms' },
      aim: 0.45,
    };
  } finally {
    await bench.close();
  }
}

/** What the service publishes goes to Pub/Sub as ever, and names no bootstrap. So those that begin do not go on. */
function holdBack({ stack }: Bench): void {
  const publisher = stack.functionsHalf?.contextOf(functionNames.bootstraps).publisher;
  if (publisher === undefined) throw new Error('The functions must run here.');
  const publish = publisher.publish.bind(publisher);
  const held: typeof publisher.publish = (lane, messages, attributes) => {
    const nowhere = messages.map((message) => ({ ...message, bootstrapId: 'nobody' }));
    return publish(lane, nowhere, attributes);
  };
  Object.assign(publisher, { publish: held });
}

/**
 * One after the other, each until the service has answered. Google takes no time here, so all of it is plinth's own. No bootstrap
 * goes on meanwhile: a claim is measured alone.
 */
async function claimTime(say: Say): Promise<readonly Figure[]> {
  const bench = await createBench({ store: 'emulator', timeFactor: 0, settings: withPool(claims) });
  try {
    await warmUp(bench);
    say('  warm');
    await fill(bench, say);
    holdBack(bench);
    const answered = { claimed: [] as number[], cold: [] as number[] };
    for (let count = 0; count < claims; count++) {
      for (const [kind, options] of [
        ['claimed', prepared],
        ['cold', cold],
      ] as const) {
        const { projectId, milliseconds } = await bench.begin(`${kind}-${count}`, options);
        if (projectId.startsWith('pool-') !== (kind === 'claimed')) throw new Error(`${projectId} is ${kind}.`);
        answered[kind].push(milliseconds);
      }
      if ((count + 1) % 10 === 0) say(`  ${count + 1} claims, and as many beginnings without a pool`);
    }
    const longest = Math.max(...answered.claimed);
    const figure = (name: string, value: number, baseline: string, base: number): Figure => ({
      name: `a claim until it is answered: ${name} of ${claims}`,
      value,
      unit: 'ms',
      baseline: { name: baseline, value: base, unit: 'ms' },
    });
    const beginning = 'a beginning without a pool';
    return [
      figure('the median', median(answered.claimed), `${beginning}: the median`, median(answered.cold)),
      figure('the longest', longest, `${beginning}: the longest`, Math.max(...answered.cold)),
      { ...figure('the longest, over what it may be,', longest, 'aim', mostMilliseconds), aim: 1 },
    ];
  } finally {
    await bench.close();
  }
}

async function install(factor: number, say: Say): Promise<Figure> {
  const turns = watchTurns();
  const bench = await createPackagedBench({ timeFactor: factor, settings: withPool(1), onLog: turns.onLog });
  try {
    const { milliseconds } = await bench.bootstrap('warm-up', { ...cold, ...bench.install });
    say(`  the first one, not counted: ${milliseconds.toFixed(0)} ms`);
    await bench.stack.settle(patienceSeconds);
    const own = await bench.bootstrap('cold', { ...cold, ...bench.install });
    say(`  a cold one: ${own.milliseconds.toFixed(0)} ms`);
    await bench.stack.settle(patienceSeconds);
    const chain = await chainOfInstall(bench, own, turns);
    await fill(bench, say);
    const taken = await bench.bootstrap('claimed', { ...prepared, ...bench.install });
    if (!isClaimed(taken)) throw new Error('The pool gave none.');
    say(
      `an install at factor ${factor}: claimed ${taken.milliseconds.toFixed(0)} ms, cold ${own.milliseconds.toFixed(0)} ms`,
    );
    return {
      name: `an install on 8 hosts in a claimed project, factor ${factor}`,
      value: taken.milliseconds / 1000,
      unit: 's',
      baseline: { name: 'longest chain of a cold one', value: chain.milliseconds / 1000, unit: 's' },
      aim: 0.65,
    };
  } finally {
    await bench.close();
  }
}

export const poolReady: Measurement = {
  name: 'pool',
  title: `A bootstrap in a prepared project (factor ${timeFactor})`,
  mostSeconds: 480,
  async *measure(say) {
    for (const pace of paces) yield* part(`a prepared project, delays × ${pace}`, async () => [await ready(pace, say)]);
  },
};

export const poolClaims: Measurement = {
  name: 'pool-claims',
  title: 'Claims of prepared projects',
  mostSeconds: 420,
  async *measure(say) {
    yield* onEmulators("claims on Google's emulators", 'emulator', () => claimTime(say));
  },
};

export const poolInstall: Measurement = {
  name: 'pool-install',
  title: 'An install in a prepared project',
  mostSeconds: 700,
  async *measure(say) {
    for (const factor of installFactors) {
      yield* part(`an install in a claimed project, factor ${factor}`, async () => [await install(factor, say)]);
    }
  },
};
