/** How long a bootstrap with an install takes on embedded machines, beside the longest chain of what its instances themselves took: 8 hosts, and 14. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { graphOf } from '../functions/engine/graph.js';
import { type Plan, planOf } from '../functions/engine/plan.js';
import { stepsOf } from '../functions/steps/index.js';
import { makePackage } from '../local/packages/make-package.js';
import { publishPackage } from '../local/packages/publish.js';
import type { StackOptions } from '../local/stack.js';
import type { BootstrapOptions, GivenOptions } from '../shared/bootstrap/options.js';
import { collections } from '../shared/names.js';
import { type Bench, type Bootstrapped, createBench } from './bootstrap.js';
import { emulatorsMissing } from './emulators.js';
import { type Figure, type Measurement, median } from './figures.js';
import { type Chain, cloudSpans, covered, longestChain, type Span } from './longest-chain.js';

/** Machines take the time that they take; the cloud is as fast as in wall-time. */
const timeFactor = 0.05;
const rounds = 3;

interface Kind {
  readonly hosts: number;
  readonly options: GivenOptions;
  readonly stack: StackOptions;
}

const kinds: readonly Kind[] = [
  { hosts: 8, options: {}, stack: {} },
  { hosts: 14, options: { multiDc: true }, stack: {} },
  { hosts: 14, options: { multiDc: true }, stack: { store: 'emulator' } },
];

/** When instances were at work, as the functions log it at the end of each turn. */
function watchTurns() {
  const spans = new Map<string, Span[]>();
  return {
    onLog(line: string): void {
      const { bootstrap, instance, seconds } = JSON.parse(line) as Readonly<Record<string, unknown>>;
      if (typeof seconds !== 'number' || typeof bootstrap !== 'string') return;
      const to = Date.now();
      const key = `${bootstrap}/${instance}`;
      spans.set(key, [...(spans.get(key) ?? []), { from: to - seconds * 1000, to }]);
    },
    of: (bootstrap: string, instance: string): readonly Span[] => spans.get(`${bootstrap}/${instance}`) ?? [],
  };
}

/** On machines an instance counts with its turns; waits between two of them, such as for a node to be Ready, do not count. */
async function chainOf(
  { stack }: Bench,
  bootstrapped: Bootstrapped,
  turns: ReturnType<typeof watchTurns>,
): Promise<Chain> {
  const { cloudHalf, functionsHalf } = stack;
  if (cloudHalf === undefined || functionsHalf === undefined) throw new Error('Both halves must run here.');
  const record = await functionsHalf.store.get(collections.bootstraps, bootstrapped.id);
  const plan: Plan = planOf(graphOf(stepsOf({ hosts: true })), record?.data['options'] as BootstrapOptions);
  const spans = cloudSpans(cloudHalf.cloud, bootstrapped);
  return longestChain(plan, (id) =>
    covered(plan.get(id)?.lane === 'host' ? turns.of(bootstrapped.id, id) : (spans.get(id) ?? [])),
  );
}

async function measured({ hosts, options, stack }: Kind, say: (text: string) => void): Promise<Figure> {
  const turns = watchTurns();
  const folder = mkdtempSync(join(tmpdir(), 'plinth-bench-package-'));
  const bench = await createBench({ ...stack, timeFactor, machines: 'embedded', onLog: turns.onLog });
  try {
    const { cloudHalf, record, notes } = bench.stack;
    const lacks = notes.find((note) => note.startsWith('No '));
    if (cloudHalf === undefined || record.sshProxyUrl === undefined || lacks !== undefined) {
      throw new Error(lacks ?? 'No simulated VM answers SSH here.');
    }
    const made = await makePackage(folder);
    await publishPackage(cloudHalf.cloud, made);
    // No PostgreSQL is on these machines: the service that needs it is left out.
    const wanted = { ...options, installVersion: made.version, installSkipSteps: ['postgres', 'platform'] };
    const found: { readonly milliseconds: number; readonly chain: Chain }[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const bootstrapped = await bench.bootstrap(`installs-${round}`, wanted);
      await bench.stack.settle();
      const chain = await chainOf(bench, bootstrapped, turns);
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
      name: `an install on ${hosts} hosts${stack.store === 'emulator' ? ", on Google's emulators" : ''}, the median ratio of ${rounds}`,
      value: milliseconds / 1000,
      unit: 's',
      baseline: { name: 'longest chain of what its instances took', value: chain.milliseconds / 1000, unit: 's' },
    };
  } finally {
    await bench.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const none: Chain = { milliseconds: 0, instances: [] };

export const installs: Measurement = {
  name: 'installs',
  title: `A bootstrap with an install on embedded machines (factor ${timeFactor} of the cloud)`,
  async measure(say) {
    const missing = emulatorsMissing();
    if (missing !== undefined) say(`${missing} Its figure is left out.`);
    const figures: Figure[] = [];
    for (const kind of kinds) {
      if (kind.stack.store === 'emulator' && missing !== undefined) continue;
      figures.push(await measured(kind, say));
    }
    return figures;
  },
};
