/** What a person waits for at a prompt, beside what Node itself takes to start. */
import { spawnSync } from 'node:child_process';
import { type Figure, median } from './figures.js';

const pairs = 20;

interface Run {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

function timed({ program, args, env }: Run): number {
  const begun = performance.now();
  const { status } = spawnSync(program, args, { stdio: 'ignore', ...(env !== undefined && { env }) });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}`);
  return performance.now() - begun;
}

/** The medians of both, run by turns, so that a busy moment of the machine hits both. */
export function besideNode(name: string, aim: number, run: Run): Figure {
  const nothing: Run = { program: process.execPath, args: ['-e', '0'] };
  timed(run);
  timed(nothing);
  const [times, baseline]: [number[], number[]] = [[], []];
  for (let i = 0; i < pairs; i++) {
    if (i % 2 === 0) times.push(timed(run));
    baseline.push(timed(nothing));
    if (i % 2 === 1) times.push(timed(run));
  }
  return {
    name,
    value: median(times),
    unit: 'ms',
    baseline: { name: 'node -e 0', value: median(baseline), unit: 'ms' },
    aim,
  };
}
