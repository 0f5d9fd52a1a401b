/** What a bootstrap reads and writes in the store, and how many messages it sends: what Google bills by. */
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import { collections } from '../../shared/names.js';
import { type Figure, type Measurement, part, type Row } from './figures.js';
import { type Bench, createBench, createPackagedBench, warmUp } from './stack.js';

const kinds: readonly { readonly title: string; readonly options: GivenOptions }[] = [
  { title: 'one datacenter', options: {} },
  { title: 'two datacenters', options: { multiDc: true } },
];

/** What is waited for is asked for again and again, as it would be. */
const installTimeFactor = 0.05;

async function countsOf(bench: Bench, title: string, options: GivenOptions): Promise<Figure[]> {
  const [before, messages, logLines] = [{ ...bench.counts }, bench.messages(), bench.stack.logs.length];
  const { id, instances } = await bench.bootstrap(title.replaceAll(/\W+/g, '-'), options);
  await bench.stack.settle();
  const baseline = { name: 'instances', value: instances, unit: '' };
  const figure = (name: string, value: number): Figure => ({ name: `${title}: ${name}`, value, unit: '', baseline });
  const events = await bench.stack.functionsHalf?.store.query({
    collection: collections.events,
    where: [['bootstrapId', '==', id]],
  });
  return [
    figure('documents read', bench.counts.reads - before.reads),
    { ...figure('documents written', bench.counts.written - before.written), aim: 4 },
    { ...figure('commits', bench.counts.commits - before.commits), aim: 1.7 },
    {
      ...figure('commits refused for a lost race', bench.counts.refused - before.refused),
      baseline: { name: 'bootstraps', value: 1, unit: '' },
      aim: 3,
    },
    figure('messages', bench.messages() - messages),
    figure('events', events?.length ?? 0),
    figure('log lines', bench.stack.logs.length - logLines),
  ];
}

async function* ofBootstraps(): AsyncGenerator<Row> {
  const bench = await createBench({ timeFactor: 0 });
  try {
    await warmUp(bench, 1);
    for (const { title, options } of kinds) yield* part(title, () => countsOf(bench, title, options));
  } finally {
    await bench.close();
  }
}

async function* ofInstalls(): AsyncGenerator<Row> {
  const bench = await createPackagedBench({ timeFactor: installTimeFactor });
  try {
    for (const kind of kinds) {
      const title = `an install, ${kind.title}`;
      yield* part(title, () => countsOf(bench, title, { ...kind.options, ...bench.install }));
    }
  } finally {
    await bench.close();
  }
}

export const documents: Measurement = {
  name: 'documents',
  title: 'Documents and messages of a bootstrap (nobody following; factor 0, installs 0.05)',
  mostSeconds: 300,
  async *measure() {
    yield* ofBootstraps();
    yield* ofInstalls();
  },
};
