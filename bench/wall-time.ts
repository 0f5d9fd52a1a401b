/** How long a bootstrap takes where the cloud takes its time: beside the longest chain of its own operations, and all of them in a row. */
import { readFileSync } from 'node:fs';
import { steps } from '../functions/steps/index.js';
import { type Bench, type Bootstrapped, createBench, planOfBootstrap, warmUp } from './bootstrap.js';
import { type Measurement, median } from './figures.js';
import { type Chain, cloudSpans, covered, longestChain } from './longest-chain.js';
import { drawTimeline } from './timeline.js';

/** The cloud is twenty times as fast as the real one; what plinth itself takes is not. */
const timeFactor = 0.05;
const title = 'A bootstrap in a cloud twenty times as fast as the real one. Red: what decided its end';
const rounds = 5;

interface Operations {
  readonly chain: Chain;
  /** Of all instances, one after another. */
  readonly milliseconds: number;
}

async function operationsOf(bench: Bench, bootstrapped: Bootstrapped): Promise<Operations> {
  const { cloudHalf } = bench.stack;
  if (cloudHalf === undefined) throw new Error('The cloud must run here.');
  const plan = await planOfBootstrap(bench, bootstrapped.id, steps);
  const spans = cloudSpans(cloudHalf.cloud, bootstrapped);
  const millisecondsOf = (instance: string): number => covered(spans.get(instance) ?? []);
  return {
    chain: longestChain(plan, millisecondsOf),
    milliseconds: [...plan.keys()].reduce((sum, instance) => sum + millisecondsOf(instance), 0),
  };
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

interface Round {
  readonly milliseconds: number;
  readonly operations: Operations;
}

/** One after the other on one stack; the first, which still loads and connects, is not counted. */
async function measured(say: (text: string) => void): Promise<Round[]> {
  const bench = await createBench({ timeFactor });
  try {
    const found: Round[] = [];
    for (let round = 0; round <= rounds; round++) {
      const waited = waitedForCore();
      const bootstrapped = await bench.bootstrap(`wall-time-${round}`);
      const waitedHere = waitedForCore() - waited;
      const operations = await operationsOf(bench, bootstrapped);
      const { chain } = operations;
      const { milliseconds } = bootstrapped;
      say(
        `${round === 0 ? 'not counted' : `round ${round}`}: ${milliseconds.toFixed(0)} ms (${waitedHere.toFixed(0)} ms of them ready to run, without a core), longest chain ${chain.milliseconds.toFixed(0)} ms: ${chain.instances.join(' → ')}`,
      );
      if (round > 0) found.push({ milliseconds, operations });
      await bench.stack.settle();
      if (round === rounds) await drawTimeline(bench, bootstrapped, steps, { name: 'wall-time', title, say });
    }
    return found;
  } finally {
    await bench.close();
  }
}

/** Milliseconds that this thread was ready to run and others had the cores, as Linux counts them: what a busy machine adds. */
function waitedForCore(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

export const wallTime: Measurement = {
  name: 'wall-time',
  title: `A bootstrap where the cloud takes its time (factor ${timeFactor})`,
  mostSeconds: 240,
  async *measure(say) {
    await warmProcess();
    const found = await measured(say);
    // Each round has a chain of its own, so it is the ratios that have a median.
    const ratio = ({ milliseconds, operations }: Round): number => milliseconds / operations.chain.milliseconds;
    const byRatio = [...found].sort((a, b) => ratio(a) - ratio(b));
    const middle = byRatio[Math.floor(byRatio.length / 2)] as Round;
    yield {
      name: `a bootstrap, the median ratio of ${rounds}`,
      value: middle.milliseconds,
      unit: 'ms',
      baseline: { name: 'longest chain of its operations', value: middle.operations.chain.milliseconds, unit: 'ms' },
      aim: 1.08,
    };
    yield {
      name: `a bootstrap, the median of ${rounds}`,
      value: median(found.map(({ milliseconds }) => milliseconds)),
      unit: 'ms',
      baseline: {
        name: 'its operations one after another',
        value: median(found.map(({ operations }) => operations.milliseconds)),
        unit: 'ms',
      },
      aim: 0.45,
    };
  },
};
