/** What a bootstrap reads and writes in the store, and how many messages it sends: what Google bills by. */
import type { GivenOptions } from '../shared/bootstrap/options.js';
import { createBench, warmUp } from './bootstrap.js';
import type { Figure, Measurement } from './figures.js';

const kinds: readonly { readonly title: string; readonly options: GivenOptions }[] = [
  { title: 'one datacenter', options: {} },
  { title: 'two datacenters', options: { multiDc: true } },
];

export const documents: Measurement = {
  name: 'documents',
  title: 'Documents and messages of a bootstrap (factor 0, nobody following)',
  async measure() {
    const bench = await createBench({ timeFactor: 0 });
    try {
      await warmUp(bench, 1);
      const figures: Figure[] = [];
      for (const { title, options } of kinds) {
        const [before, messages] = [{ ...bench.counts }, bench.messages()];
        const { instances } = await bench.bootstrap(title.replaceAll(' ', '-'), options);
        await bench.stack.settle();
        const baseline = { name: 'instances', value: instances, unit: '' };
        const figure = (name: string, value: number): Figure => ({
          name: `${title}: ${name}`,
          value,
          unit: '',
          baseline,
        });
        figures.push(
          figure('documents read', bench.counts.reads - before.reads),
          figure('documents written', bench.counts.written - before.written),
          figure('commits', bench.counts.commits - before.commits),
          figure('commits refused for a lost race', bench.counts.refused - before.refused),
          figure('messages', bench.messages() - messages),
        );
      }
      return figures;
    } finally {
      await bench.close();
    }
  },
};
