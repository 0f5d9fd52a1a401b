/**
 * Many bootstraps at once: how long they take together, what memory it costs, and whether anything is lost or made twice.
 * `--only at-once --count 1000` has so many in memory.
 */
import { availableParallelism } from 'node:os';
import { vmsOf } from '../../functions/steps/topology.js';
import { entriesOf } from '../../local/cloud/compute/of-project.js';
import type { SimulatedCloud } from '../../local/cloud/index.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { workedMilliseconds } from './cpu.js';
import { type Figure, type Measurement, median, part } from './figures.js';
import { type Bench, type Bootstrapped, createBench, onEmulators, warmUp } from './stack.js';

const many = { memory: 200, emulator: 20 } as const;
const timesAlone = 5;
const warmUps = 3;
/** All of them live at once. */
const others = timesAlone + warmUps;
/** Room for the projects of the deployment itself. */
const standing = 100;

function cloudOf({ stack }: Bench): SimulatedCloud {
  if (stack.cloudHalf === undefined) throw new Error('The cloud runs elsewhere.');
  return stack.cloudHalf.cloud;
}

interface Inserts {
  /** Of VMs, by project. */
  readonly counts: ReadonlyMap<string, number>;
  /** Counts those since the last look: the cloud forgets old calls. */
  look(): void;
}

function watchInserts(bench: Bench): Inserts {
  const { calls } = cloudOf(bench);
  const counts = new Map<string, number>();
  let seen = calls.last();
  return {
    counts,
    look() {
      const since = seen;
      seen = calls.last();
      for (const { params, status, until } of calls.list({ method: 'compute.instances.insert', since })) {
        // A request that was sent again is answered with what it began before, and begins nothing.
        if (status !== 200 || until === undefined) continue;
        const project = params['project'] ?? '';
        counts.set(project, (counts.get(project) ?? 0) + 1);
      }
    },
  };
}

/** VMs that are missing, and inserts that made one more than was asked for. */
function faultsIn(
  bench: Bench,
  made: readonly Bootstrapped[],
  inserts: Inserts,
): { readonly lost: number; readonly twice: number } {
  const wanted = vmsOf({ multiDc: false } as BootstrapOptions).length;
  const standing = cloudOf(bench).world.table('compute.instances');
  let [lost, twice] = [0, 0];
  for (const { projectId } of made) {
    lost += wanted - entriesOf(standing, projectId).length;
    twice += Math.max(0, (inserts.counts.get(projectId) ?? 0) - wanted);
  }
  return { lost, twice };
}

/** Of 200 at once, simulated cloud included. */
const mostMebibytes = 600;
/** Where one waits, others work, so that no core rests. */
const aimOnEmulators = 1.5;

async function figuresOf(
  store: 'memory' | 'emulator',
  say: (text: string) => void,
  count: number = many[store],
): Promise<Figure[]> {
  // What is logged would be kept in this process, and so count as its memory.
  const living = count + others;
  const bench = await createBench({
    store,
    timeFactor: 0,
    settings: { PLINTH_LIVING_PER_OWNER: String(living), PLINTH_LIVING_IN_ALL: String(living) },
    worldSettings: { 'quota.projects': living + standing, 'quota.billing-projects': living + standing },
    onLog: () => undefined,
  });
  try {
    await warmUp(bench, warmUps);
    const alone: number[] = [];
    const workedBefore = workedMilliseconds();
    for (let i = 0; i < timesAlone; i++) alone.push((await bench.bootstrap(`alone-${i}`)).milliseconds);
    await bench.stack.settle();
    const workOfOne = (workedMilliseconds() - workedBefore) / timesAlone;
    const rssBefore = process.memoryUsage().rss;
    const inserts = watchInserts(bench);
    const names = Array.from({ length: count }, (_, i) => `at-once-${i}`);
    let peak = rssBefore;
    const watching = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 50);
    const looking = setInterval(inserts.look, 1000);
    const begun = performance.now();
    const ended = await Promise.allSettled(names.map((name) => bench.bootstrap(name)));
    const milliseconds = performance.now() - begun;
    clearInterval(watching);
    await bench.stack.settle();
    clearInterval(looking);
    inserts.look();
    const made = ended.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    for (const each of ended) if (each.status === 'rejected') say(String(each.reason));
    const { lost, twice } = faultsIn(bench, made, inserts);
    const title = `${count} at once (${store})`;
    return [
      {
        name: `${title}: wall time`,
        value: milliseconds / 1000,
        unit: 's',
        baseline: { name: `${count} × one alone`, value: (count * median(alone)) / 1000, unit: 's' },
      },
      {
        name: `${title}: wall time, over CPU`,
        value: milliseconds / 1000,
        unit: 's',
        baseline: {
          name: `CPU of one × ${count} ÷ cores`,
          value: (workOfOne * count) / availableParallelism() / 1000,
          unit: 's',
        },
        ...(store === 'emulator' ? { aim: aimOnEmulators } : {}),
      },
      { name: `${title}: throughput`, value: count / (milliseconds / 1000), unit: 'bootstraps/s' },
      {
        name: `${title}: peak memory, simulated cloud included`,
        value: peak / 2 ** 20,
        unit: 'MiB',
        baseline: { name: 'before', value: rssBefore / 2 ** 20, unit: 'MiB' },
      },
      ...(count === many.memory
        ? [
            {
              name: `${title}: peak memory, over what it may be`,
              value: peak / 2 ** 20,
              unit: 'MiB',
              baseline: { name: 'aim', value: mostMebibytes, unit: 'MiB' },
              aim: 1,
            },
          ]
        : []),
      { name: `${title}: did not succeed`, value: count - made.length, unit: '' },
      { name: `${title}: VMs lost`, value: lost, unit: '' },
      { name: `${title}: VMs made twice`, value: twice, unit: '' },
      { name: `${title}: commits refused for a lost race`, value: bench.counts.refused, unit: '' },
    ];
  } finally {
    await bench.close();
  }
}

export const atOnce: Measurement = {
  name: 'at-once',
  title: 'Many bootstraps at once (factor 0)',
  heapMebibytes: 400,
  // A thousand take a quarter of an hour.
  mostSeconds: 1800,
  async *measure(say, count) {
    yield* part('many at once (memory)', () => figuresOf('memory', say, count));
    if (count === undefined)
      yield* onEmulators('many at once (emulator)', 'emulator', () => figuresOf('emulator', say));
  },
};
