/** What plinth itself takes an instance: the time of its run, less that in which a cloud call was under way. */
import { collections } from '../shared/names.js';
import { type Bench, createBench, warmUp } from './bootstrap.js';
import { onEmulators } from './emulators.js';
import { type Figure, type Measurement, median, quantile } from './figures.js';
import { covered, type Span } from './longest-chain.js';

const rounds = 8;
/** On Google's emulators, at p50. */
const mostMilliseconds = 30;

/** The functions' log tells how long each run took; the events tell of its cloud calls, as the client saw them. */
async function costs({ stack }: Bench, lines: readonly string[], bootstrapId: string): Promise<number[]> {
  const events = await stack.functionsHalf?.store.query({
    collection: collections.events,
    where: [['bootstrapId', '==', bootstrapId]],
  });
  const spans = new Map<string, Span[]>();
  for (const { data } of events ?? []) {
    const { event, calls = [] } = data as {
      readonly event: { readonly instance?: string };
      readonly calls?: readonly { readonly at: string; readonly text: string }[];
    };
    const own = calls.map(({ at, text }) => {
      const to = Date.parse(at);
      return { from: to - Number(/in (\d+) ms$/.exec(text)?.[1] ?? 0), to };
    });
    spans.set(event.instance ?? '', own);
  }
  return lines.flatMap((line) => {
    const { bootstrap, instance, result, seconds } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (bootstrap !== bootstrapId || result !== 'done') return [];
    return [Number(seconds) * 1000 - covered(spans.get(String(instance)) ?? [])];
  });
}

/** The least that any answer over HTTP costs in this process: what the milliseconds are to be judged by. */
async function roundTrip(bench: Bench): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 200; i++) {
    const begun = performance.now();
    await (await fetch(`${bench.stack.record.frontUrl}/.well-known/jwks.json`)).text();
    times.push(performance.now() - begun);
  }
  return median(times);
}

async function figuresOf(title: string, options: { readonly store: 'memory' | 'emulator' }): Promise<Figure[]> {
  const lines: string[] = [];
  const bench = await createBench({ ...options, timeFactor: 0, onLog: (line) => lines.push(line) });
  try {
    await warmUp(bench, 3);
    const baseline = { name: 'an HTTP round trip', value: await roundTrip(bench), unit: 'ms' };
    const all: number[] = [];
    for (let i = 0; i < rounds; i++) {
      const { id } = await bench.bootstrap(`cost-${i}`);
      await bench.stack.settle();
      all.push(...(await costs(bench, lines, id)));
    }
    return [
      { name: `an instance, ${title}: p50 of ${all.length}`, value: quantile(all, 0.5), unit: 'ms', baseline },
      { name: `an instance, ${title}: p99`, value: quantile(all, 0.99), unit: 'ms', baseline },
      ...(options.store === 'emulator'
        ? [
            {
              name: `an instance, ${title}: p50, over what it may be`,
              value: quantile(all, 0.5),
              unit: 'ms',
              baseline: { name: 'aim', value: mostMilliseconds, unit: 'ms' },
              aim: 1,
            },
          ]
        : []),
    ];
  } finally {
    await bench.close();
  }
}

export const instanceCost: Measurement = {
  name: 'instance-cost',
  title: 'Orchestration an instance: its time without its cloud calls (factor 0)',
  isBeside: true,
  mostSeconds: 300,
  async *measure() {
    const kinds = [
      ['all that are ready at once, in memory', { store: 'memory' }],
      ["all that are ready at once, on Google's emulators", { store: 'emulator' }],
    ] as const;
    for (const [title, options] of kinds) {
      yield* onEmulators(`an instance, ${title}`, options.store, () => figuresOf(title, options));
    }
  },
};
