/**
 * How long a bootstrap takes at Google's own pace: one that makes its project, beside the longest chain of its own operations,
 * and one that claims a prepared project, beside that same chain. The two take turns in one stack, and the region decides.
 */
import { stepsOf } from '../../functions/steps/index.js';
import { functionUrl, invokers, local } from '../../local/stack/deployment.js';
import { functionNames } from '../../shared/names.js';
import { workedMilliseconds } from './cpu.js';
import { type Figure, type Measurement, median } from './figures.js';
import { type Chain, cloudSpans, covered, longestChain } from './longest-chain.js';
import { type Bench, type Bootstrapped, createBench, planOfBootstrap, warmUp } from './stack.js';

const usualRounds = 5;
const prepared = { region: 'europe-west4' } as const;
/** No pool is for it. */
const cold = { region: 'europe-west1' } as const;
/** For deliveries that are still under way when a bootstrap has ended. */
const patienceSeconds = 300;

type Say = (text: string) => void;

/** Imports, keys and compiled code are the process's: bootstraps in a cloud without delays warm what the measured ones use. */
async function warmProcess(): Promise<void> {
  const bench = await createBench({ timeFactor: 0 });
  try {
    await warmUp(bench);
  } finally {
    await bench.close();
  }
}

/** As Cloud Scheduler has sweep called, until nothing more is made. */
async function fillPool({ stack }: Bench): Promise<void> {
  const url = functionUrl(stack.functionsHalf?.origin ?? '', functionNames.sweep);
  for (let run = 0; run < 100; run++) {
    const token = await stack.cloudHalf?.cloud.identity.idToken({ email: invokers.scheduler, audience: url });
    const reply = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    const { pools } = (await reply.json()) as { readonly pools: { readonly made: number } };
    await stack.settle(patienceSeconds);
    if (pools.made === 0) return;
  }
  throw new Error('The pool is never full.');
}

async function chainOf(bench: Bench, bootstrapped: Bootstrapped): Promise<Chain> {
  const { cloudHalf } = bench.stack;
  if (cloudHalf === undefined) throw new Error('The cloud must run here.');
  const plan = await planOfBootstrap(bench, bootstrapped.id, stepsOf({ hosts: false }));
  const spans = cloudSpans(cloudHalf.cloud, bootstrapped);
  return longestChain(plan, (instance) => covered(spans.get(instance) ?? []));
}

interface Round {
  readonly cold: number;
  readonly claimed: number;
  readonly chain: Chain;
  /** Of this process and of what it started, while the cold one went on. The simulated cloud counts with it. */
  readonly worked: number;
}

async function oneRound(bench: Bench, round: number): Promise<Round> {
  await fillPool(bench);
  const workedBefore = workedMilliseconds();
  const own = await bench.bootstrap(`cold-${round}`, cold);
  await bench.stack.settle(patienceSeconds);
  const worked = workedMilliseconds() - workedBefore;
  const taken = await bench.bootstrap(`claimed-${round}`, prepared);
  await bench.stack.settle(patienceSeconds);
  if (!taken.projectId.startsWith('pool-') || own.projectId.startsWith('pool-'))
    throw new Error('The pool gave to the wrong one.');
  return { cold: own.milliseconds, claimed: taken.milliseconds, chain: await chainOf(bench, own), worked };
}

async function measured(rounds: number, say: Say): Promise<readonly Round[]> {
  const pools = [{ parent: local.folder, billingAccount: local.billingAccount, ...prepared, size: 1 }];
  const bench = await createBench({ timeFactor: 1, settings: { PLINTH_POOLS: JSON.stringify(pools) } });
  try {
    const found: Round[] = [];
    for (let round = 1; round <= rounds; round++) {
      const one = await oneRound(bench, round);
      found.push(one);
      say(
        `round ${round}: ${one.cold.toFixed(0)} ms, claimed ${one.claimed.toFixed(0)} ms, longest chain ${one.chain.milliseconds.toFixed(0)} ms: ${one.chain.instances.join(' → ')}`,
      );
    }
    return found;
  } finally {
    await bench.close();
  }
}

function figuresOf(found: readonly Round[]): readonly Figure[] {
  // Each round has a chain of its own, so it is the ratios that have a median.
  const overChain = (name: string, of: (round: Round) => number, aim: number): Figure => {
    const ratio = (round: Round): number => of(round) / round.chain.milliseconds;
    const middle = median(found.map(ratio));
    const round = found.find((each) => ratio(each) === middle) as Round;
    return {
      name: `${name}, the median ratio of ${found.length}`,
      value: of(round) / 1000,
      unit: 's',
      baseline: { name: 'longest chain of the cold one', value: round.chain.milliseconds / 1000, unit: 's' },
      aim,
    };
  };
  return [
    overChain('a bootstrap', (round) => round.cold, 1.05),
    overChain('a bootstrap that claims a prepared project', (round) => round.claimed, 0.45),
    {
      name: `CPU of a bootstrap, simulated cloud included, the median of ${found.length}`,
      value: median(found.map(({ worked }) => worked)),
      unit: 'ms',
    },
  ];
}

export const bootstraps: Measurement = {
  name: 'bootstraps',
  title: "A bootstrap at Google's own pace (factor 1), cold and from a pool",
  mostSeconds: 2400,
  async *measure(say, rounds = usualRounds) {
    await warmProcess();
    yield* figuresOf(await measured(rounds, say));
  },
};
