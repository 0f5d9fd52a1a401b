/**
 * How far off the minutes and the price are that people see before a bootstrap starts and on its way. The deployment learns
 * from some seeds of the simulated cloud, and is tried on others, in a cloud that is slower and lacks room for spot VMs.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Write } from '../functions/store/store.js';
import { type Figure, type Measurement, median, quantile } from './figures.js';
import type { Tried } from './forecast-seed.js';

const learntSeeds = 6;
const triedSeeds = 18;
/** A bootstrap mostly waits, so several at once don't slow each other down. */
const atOnce = 6;

const seeds = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);

/** Some processes at once, as each serves one stack at a time. `say` hears of each seed that is done. */
async function run<T>(mode: 'learn' | 'try', all: readonly number[], input: unknown, say: () => void): Promise<T[]> {
  const done: T[] = [];
  const part = async (own: readonly number[]) => {
    const program = fileURLToPath(new URL('forecast-seed.js', import.meta.url));
    const child = spawn(process.execPath, [program, mode, ...own.map(String)], { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end(JSON.stringify(input));
    const exit = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    for await (const line of createInterface({ input: child.stdout })) {
      done.push(JSON.parse(line) as T);
      say();
    }
    const exitCode = await exit;
    if (exitCode !== 0) throw new Error(`The seeds ${own.join(', ')} ended with ${String(exitCode)}.`);
  };
  await Promise.all(Array.from({ length: atOnce }, (_, i) => part(all.filter((_seed, at) => at % atOnce === i))));
  return done;
}

/** The share of the whole time by which the moment of its end was missed, told when that part of it was over. */
const missed = ({ seconds, samples }: Tried, part: number): number => {
  const at = samples.reduce((best, each) =>
    Math.abs(each.seconds - part * seconds) < Math.abs(best.seconds - part * seconds) ? each : best,
  );
  return Math.abs(at.seconds + at.readyIn - seconds) / seconds;
};

function figuresOf(tried: readonly Tried[]): Figure[] {
  const percent = (title: string, values: readonly number[], share: number): Figure => ({
    name: title,
    value: 100 * quantile(values, share),
    unit: '%',
  });
  const within90 = tried.filter(({ seconds, p90 }) => seconds <= p90).length;
  return [
    ...[0, 0.25, 0.5, 0.75].flatMap((part) => {
      const errors = tried.map((each) => missed(each, part));
      const when = part === 0 ? 'before the start' : `${100 * part} % on its way`;
      return [
        percent(`the end missed by, ${when}: median`, errors, 0.5),
        percent('the same: nine in ten', errors, 0.9),
      ];
    }),
    { name: 'ended within what nine in ten were said to take', value: (100 * within90) / tried.length, unit: '%' },
    ...[0.5, 0.9].map((share) =>
      percent(
        `USD an hour as said, from USD an hour as it came: ${share === 0.5 ? 'median' : 'nine in ten'}`,
        tried.map(({ price: { said, was } }) => Math.abs(said - was) / was),
        share,
      ),
    ),
    {
      name: `a bootstrap, the median of ${tried.length}`,
      value: median(tried.map(({ seconds }) => seconds)),
      unit: 's',
    },
  ];
}

export const forecasts: Measurement = {
  name: 'forecast',
  title: `Minutes and price as they are told, of ${triedSeeds} seeds`,
  mostSeconds: 600,
  async *measure(say) {
    const learnt = (await run<readonly Write[]>('learn', seeds(1, learntSeeds), [], () => undefined)).flat();
    say(`learnt from ${learnt.length} seeds`);
    let count = 0;
    const tried = await run<Tried>('try', seeds(1001, triedSeeds), learnt, () => {
      count += 1;
      say(`${count} of ${triedSeeds}`);
    });
    yield* figuresOf(tried);
  },
};
