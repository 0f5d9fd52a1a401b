/** What a bootstrap reads and writes in the store, and how many messages it sends: what Google bills by. */
import { stepsOf } from '../functions/steps/index.js';
import type { GivenOptions } from '../shared/bootstrap/options.js';
import { collections, type Lane } from '../shared/names.js';
import { type Bench, createBench, planOfBootstrap, warmUp } from './bootstrap.js';
import { createSvg, draw, ticksTo } from './drawing.js';
import { type Figure, isFigure, type Measurement, part, type Row } from './figures.js';
import { createPackagedBench } from './packaged.js';
import { type Turns, watchTurns } from './turns.js';

const kinds: readonly { readonly title: string; readonly options: GivenOptions }[] = [
  { title: 'one datacenter', options: {} },
  { title: 'two datacenters', options: { multiDc: true } },
];

/** The cloud as fast as in wall-time: what is waited for is asked for again and again, as it would be. */
const installTimeFactor = 0.05;

async function countsOf(bench: Bench, title: string, options: GivenOptions, turns?: Turns): Promise<Figure[]> {
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
    { ...figure('events', events?.length ?? 0), aimBeside: 1 },
    ...(turns === undefined
      ? [{ ...figure('log lines', bench.stack.logs.length - logLines), aimBeside: 1 }]
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

const drawn = ['documents read', 'documents written', 'commits', 'messages'] as const;
const colours = ['#2c7fb8', '#c0392b', '#7b5ea7', '#4d9a51'] as const;

/** Each of these, against the number of instances. */
export function costSvg(figures: readonly Figure[]): string {
  const series = drawn.map((name) =>
    figures
      .filter((figure) => figure.name.endsWith(`: ${name}`))
      .map(({ value, baseline }) => [baseline?.value ?? 0, value] as const)
      .sort(([a], [b]) => a - b),
  );
  const [mostInstances, most] = [0, 1].map((i) => Math.max(...series.flat().map((point) => point[i] ?? 0)));
  const [left, right, top, bottom] = [50, 520, 40, 300];
  const x = (instances: number): number => left + ((right - left) * instances) / (mostInstances ?? 1);
  const y = (value: number): number => bottom - ((bottom - top) * value) / (most ?? 1);
  const svg = createSvg(right + 140, bottom + 40, 'What a bootstrap asks of the store, by its instances');
  for (const tick of ticksTo(mostInstances ?? 1)) svg.text(x(tick), bottom + 16, String(tick), 'middle');
  svg.text((left + right) / 2, bottom + 32, 'instances', 'middle');
  for (const tick of ticksTo(most ?? 1)) {
    svg.line(
      [
        [left, y(tick)],
        [right, y(tick)],
      ],
      '#e8e8e8',
    );
    svg.text(left - 6, y(tick) + 4, String(tick), 'end');
  }
  for (const [i, points] of series.entries()) {
    const colour = colours[i] ?? '#222';
    svg.line(
      points.map(([instances, value]) => [x(instances), y(value)]),
      colour,
    );
    for (const [instances, value] of points) svg.rect(x(instances) - 3, y(value) - 3, 6, 6, colour);
    const [, last = 0] = points.at(-1) ?? [];
    svg.text(right + 8, y(last) + 4, drawn[i] ?? '');
  }
  return svg.toString();
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
  const turns = watchTurns();
  const bench = await createPackagedBench({ timeFactor: installTimeFactor, onLog: turns.onLog });
  try {
    for (const kind of kinds) {
      const title = `an install, ${kind.title}`;
      yield* part(title, () => countsOf(bench, title, { ...kind.options, ...bench.install }, turns));
    }
  } finally {
    await bench.close();
  }
}

export const documents: Measurement = {
  name: 'documents',
  title: 'Documents and messages of a bootstrap (nobody following; factor 0, installs 0.05)',
  isBeside: true,
  mostSeconds: 300,
  async *measure(say) {
    const figures: Figure[] = [];
    for (const rows of [ofBootstraps(), ofInstalls()]) {
      for await (const row of rows) {
        if (isFigure(row)) figures.push(row);
        yield row;
      }
    }
    say(`what a bootstrap asks of the store, by its size: ${draw('cost', costSvg(figures))}`);
  },
};
