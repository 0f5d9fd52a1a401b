/** How long a bootstrap takes where the cloud takes its time: beside the longest chain of its own operations, and one step at a time. */
import { graphOf } from '../functions/engine/graph.js';
import { planOf } from '../functions/engine/plan.js';
import { steps } from '../functions/steps/index.js';
import type { BootstrapOptions } from '../shared/bootstrap/options.js';
import { collections } from '../shared/names.js';
import { type Bench, type Bootstrapped, createBench, warmUp } from './bootstrap.js';
import { type Figure, type Measurement, median } from './figures.js';
import { type Chain, cloudSpans, covered, longestChain } from './longest-chain.js';

/** The cloud is twenty times as fast as the real one; what plinth itself takes is not. */
const timeFactor = 0.05;
const rounds = 5;
const roundsOneByOne = 2;

async function chainOf({ stack }: Bench, bootstrapped: Bootstrapped): Promise<Chain> {
  const { cloudHalf, functionsHalf } = stack;
  if (cloudHalf === undefined || functionsHalf === undefined) throw new Error('Both halves must run here.');
  const record = await functionsHalf.store.get(collections.bootstraps, bootstrapped.id);
  const plan = planOf(graphOf(steps), record?.data['options'] as BootstrapOptions);
  const spans = cloudSpans(cloudHalf.cloud, bootstrapped);
  return longestChain(plan, (instance) => covered(spans.get(instance) ?? []));
}

/** Imports, keys and compiled code are the process's: a fast bootstrap first warms what the measured ones use. */
async function warmProcess(): Promise<void> {
  const bench = await createBench({ timeFactor: 0 });
  try {
    await warmUp(bench);
  } finally {
    await bench.close();
  }
}

async function measured(
  options: { readonly seed: number; readonly concurrency?: number },
  say: (text: string) => void,
): Promise<{ readonly milliseconds: number; readonly chain: Chain }> {
  const bench = await createBench({ timeFactor, ...options });
  try {
    const bootstrapped = await bench.bootstrap('wall-time');
    const chain = await chainOf(bench, bootstrapped);
    const { milliseconds } = bootstrapped;
    say(
      `${options.concurrency === 1 ? 'one by one, ' : ''}seed ${options.seed}: ${milliseconds.toFixed(0)} ms, longest chain ${chain.milliseconds.toFixed(0)} ms: ${chain.instances.join(' → ')}`,
    );
    return { milliseconds, chain };
  } finally {
    await bench.close();
  }
}

export const wallTime: Measurement = {
  name: 'wall-time',
  title: `A bootstrap where the cloud takes its time (factor ${timeFactor})`,
  async measure(say) {
    await warmProcess();
    const together: Awaited<ReturnType<typeof measured>>[] = [];
    for (let seed = 1; seed <= rounds; seed++) together.push(await measured({ seed }, say));
    const oneByOne: number[] = [];
    for (let seed = 1; seed <= roundsOneByOne; seed++) {
      oneByOne.push((await measured({ seed, concurrency: 1 }, say)).milliseconds);
    }
    // Each round has a chain of its own: the median is that of the ratios.
    const byRatio = [...together].sort(
      (a, b) => a.milliseconds / a.chain.milliseconds - b.milliseconds / b.chain.milliseconds,
    );
    const middle = byRatio[Math.floor(byRatio.length / 2)] as (typeof together)[number];
    const value = median(together.map(({ milliseconds }) => milliseconds));
    const figures: Figure[] = [
      {
        name: 'bootstrap, wall time (median ratio)',
        value: middle.milliseconds,
        unit: 'ms',
        baseline: { name: 'longest chain of its operations', value: middle.chain.milliseconds, unit: 'ms' },
        aim: 1.15,
      },
      {
        name: 'bootstrap, wall time (median)',
        value,
        unit: 'ms',
        baseline: { name: 'the same steps one by one', value: median(oneByOne), unit: 'ms' },
        aim: 0.45,
      },
    ];
    return figures;
  },
};
