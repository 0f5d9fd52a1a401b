/** How long a bootstrap with an install takes on embedded machines, beside the longest chain of what its instances themselves took. */
import { stepsOf } from '../../functions/steps/index.js';
import type { StackOptions } from '../../local/stack/stack.js';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import { type Figure, type Measurement, median } from './figures.js';
import { type Chain, cloudSpans, covered, longestChain, type Turns, watchTurns } from './longest-chain.js';
import { type Bench, type Bootstrapped, createPackagedBench, onEmulators, planOfBootstrap } from './stack.js';

/** Machines take the time that they take; the cloud is twenty times as fast as the real one. */
const timeFactor = 0.05;
const rounds = 3;

interface Kind {
  readonly hosts: number;
  readonly options: GivenOptions;
  readonly stack: StackOptions;
  readonly aim?: number;
}

const kinds: readonly Kind[] = [
  { hosts: 8, options: {}, stack: {} },
  { hosts: 14, options: { multiDc: true }, stack: { store: 'emulator' }, aim: 1.5 },
];

/** On machines an instance counts with its turns; waits between two of them, such as for a node to be Ready, do not count. */
async function chainOfInstall(bench: Bench, bootstrapped: Bootstrapped, turns: Turns): Promise<Chain> {
  const { cloudHalf } = bench.stack;
  if (cloudHalf === undefined) throw new Error('The cloud must run here.');
  const plan = await planOfBootstrap(bench, bootstrapped.id, stepsOf({ hosts: true }));
  const spans = cloudSpans(cloudHalf.cloud, bootstrapped);
  return longestChain(plan, (id) =>
    covered(plan.get(id)?.lane === 'host' ? turns.of(bootstrapped.id, id) : (spans.get(id) ?? [])),
  );
}

const titleOf = ({ hosts, stack }: Kind): string =>
  `an install on ${hosts} hosts${stack.store === 'emulator' ? ", on Google's emulators" : ''}`;

async function measured(kind: Kind, say: (text: string) => void): Promise<Figure> {
  const { hosts, options, stack, aim } = kind;
  const turns = watchTurns();
  const bench = await createPackagedBench({ ...stack, timeFactor, onLog: turns.onLog });
  try {
    const found: { readonly milliseconds: number; readonly chain: Chain }[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const bootstrapped = await bench.bootstrap(`installs-${round}`, { ...options, ...bench.install });
      await bench.stack.settle();
      const chain = await chainOfInstall(bench, bootstrapped, turns);
      const { milliseconds } = bootstrapped;
      say(
        `${hosts} hosts, ${round === 0 ? 'not counted' : `round ${round}`}: ${milliseconds.toFixed(0)} ms, longest chain ${chain.milliseconds.toFixed(0)} ms: ${chain.instances.join(' → ')}`,
      );
      if (round > 0) found.push({ milliseconds, chain });
    }
    const ratio = (round: (typeof found)[number]): number => round.milliseconds / round.chain.milliseconds;
    const middle = median(found.map(ratio));
    const { milliseconds, chain } = found.find((round) => ratio(round) === middle) ?? { milliseconds: 0, chain: none };
    return {
      name: `${titleOf(kind)}, the median ratio of ${rounds}`,
      value: milliseconds / 1000,
      unit: 's',
      baseline: { name: 'longest chain of what its instances took', value: chain.milliseconds / 1000, unit: 's' },
      ...(aim === undefined ? {} : { aim }),
    };
  } finally {
    await bench.close();
  }
}

const none: Chain = { milliseconds: 0, instances: [] };

export const installs: Measurement = {
  name: 'installs',
  title: `A bootstrap with an install on embedded machines (factor ${timeFactor} of the cloud)`,
  mostSeconds: 600,
  async *measure(say) {
    for (const kind of kinds)
      yield* onEmulators(titleOf(kind), kind.stack.store, async () => [await measured(kind, say)]);
  },
};
