/** The steps of a bootstrap that took longest, by what `plinth status --json` tells. */
import { formatSeconds } from '../../shared/bootstrap/duration.js';
import { type PlinthOptions, runPlinth } from './plinth-process.js';

interface Timed {
  readonly title: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
}

/** `Platform dc1 5.7s`, slowest first. */
export async function slowestOf(name: string, at: PlinthOptions): Promise<readonly string[]> {
  const { stdout } = await runPlinth(['beta', 'bootstrap-cloud', 'status', name, '--json'], { ...at, show: false });
  const last = stdout.trim().split('\n').at(-1) ?? '{}';
  const { bootstrap } = JSON.parse(last) as { bootstrap?: { instances: readonly Timed[] } };
  return (bootstrap?.instances ?? [])
    .flatMap(({ title, startedAt, endedAt }) =>
      startedAt === undefined || endedAt === undefined
        ? []
        : [{ title, seconds: (Date.parse(endedAt) - Date.parse(startedAt)) / 1000 }],
    )
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, 5)
    .map(({ title, seconds }) => `${title} ${formatSeconds(Math.round(seconds * 10) / 10)}`);
}
