/** What a bootstrap reads and writes in the store, and how many messages it sends: what Google bills by. */
import { stepsOf } from '../functions/steps/index.js';
import type { GivenOptions } from '../shared/bootstrap/options.js';
import type { Lane } from '../shared/names.js';
import { type Bench, createBench, planOfBootstrap, warmUp } from './bootstrap.js';
import type { Figure, Measurement } from './figures.js';
import { createPackagedBench } from './packaged.js';
import { type Turns, watchTurns } from './turns.js';

const kinds: readonly { readonly title: string; readonly options: GivenOptions }[] = [
  { title: 'one datacenter', options: {} },
  { title: 'two datacenters', options: { multiDc: true } },
];

/** The cloud as fast as in wall-time: what is waited for is asked for again and again, as it would be. */
const installTimeFactor = 0.05;

async function countsOf(bench: Bench, title: string, options: GivenOptions, turns?: Turns): Promise<Figure[]> {
  const [before, messages] = [{ ...bench.counts }, bench.messages()];
  const { id, instances } = await bench.bootstrap(title.replaceAll(/\W+/g, '-'), options);
  await bench.stack.settle();
  const baseline = { name: 'instances', value: instances, unit: '' };
  const figure = (name: string, value: number): Figure => ({ name: `${title}: ${name}`, value, unit: '', baseline });
  return [
    figure('documents read', bench.counts.reads - before.reads),
    figure('documents written', bench.counts.written - before.written),
    figure('commits', bench.counts.commits - before.commits),
    figure('commits refused for a lost race', bench.counts.refused - before.refused),
    figure('messages', bench.messages() - messages),
    ...(turns === undefined
      ? []
      : Object.entries(await laneSeconds(bench, id, turns)).map(([lane, value]) => ({
          ...figure(`turns on the ${lane} lane`, value),
          unit: 's',
        }))),
  ];
}

/** How long functions worked on the instances of a lane, each turn by itself: what is paid for where no two share a function's instance. */
async function laneSeconds(bench: Bench, id: string, turns: Turns): Promise<Readonly<Record<Lane, number>>> {
  const seconds = { cloud: 0, host: 0 };
  for (const [instance, { lane }] of await planOfBootstrap(bench, id, stepsOf({ hosts: true }))) {
    for (const { from, to } of turns.of(id, instance)) seconds[lane] += (to - from) / 1000;
  }
  return seconds;
}

export const documents: Measurement = {
  name: 'documents',
  title: 'Documents and messages of a bootstrap (nobody following; factor 0, installs 0.05)',
  async measure() {
    const figures: Figure[] = [];
    const bench = await createBench({ timeFactor: 0 });
    try {
      await warmUp(bench, 1);
      for (const { title, options } of kinds) figures.push(...(await countsOf(bench, title, options)));
    } finally {
      await bench.close();
    }
    const turns = watchTurns();
    const withMachines = await createPackagedBench({ timeFactor: installTimeFactor, onLog: turns.onLog });
    try {
      for (const { title, options } of kinds) {
        const install = { ...options, ...withMachines.install };
        figures.push(...(await countsOf(withMachines, `an install, ${title}`, install, turns)));
      }
    } finally {
      await withMachines.close();
    }
    return figures;
  },
};
