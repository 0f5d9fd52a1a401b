/**
 * `npm run bench`: all figures, each beside a baseline of the same run, as a table and as JSON. A figure is never a test: it
 * is read by people, and what is quoted in docs/build/bench.md bears its date and machine.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { atOnce } from './at-once.js';
import { cleanup } from './cleanup.js';
import { coldStart } from './cold-start.js';
import { completion } from './completion.js';
import { documents } from './documents.js';
import { earlierRelease, removeRelease } from './earlier-release.js';
import { besideRelease, type Figure, type Measurement, ratioOf, tableOf } from './figures.js';
import { forecasts } from './forecast.js';
import { help } from './help.js';
import { iap } from './iap.js';
import { installs } from './installs.js';
import { instanceCost } from './instance-cost.js';
import { keys } from './keys.js';
import { organizations } from './organizations.js';
import { poolClaims, poolInstall, poolReady } from './pool.js';
import { preflightTime } from './preflight.js';
import { quickWrites } from './quick-writes.js';
import { simulatedCloud } from './simulated-cloud.js';
import { ssh } from './ssh.js';
import { wallTime } from './wall-time.js';

const measurements: readonly Measurement[] = [
  wallTime,
  poolReady,
  poolClaims,
  poolInstall,
  keys,
  quickWrites,
  instanceCost,
  documents,
  atOnce,
  cleanup,
  organizations,
  preflightTime,
  forecasts,
  installs,
  ssh,
  iap,
  help,
  completion,
  simulatedCloud,
  coldStart,
];

/** What git ignores. */
const resultsFile = resolve('bench/results.json');

interface Result {
  readonly name: string;
  readonly figures: readonly Figure[];
}

const say = (text: string): void => void process.stderr.write(`${text}\n`);

/** In a process of its own: neither memory nor compiled code of one measurement shall show in another's. */
async function apart({ name, isBeside }: Measurement, folder = resolve('.')): Promise<readonly Figure[]> {
  const { PLINTH_BENCH_BEFORE, ...env } = process.env;
  const child = spawn(process.execPath, [join(folder, 'dist/bench/main.js'), '--only', name, '--json'], {
    cwd: folder,
    env: isBeside ? env : { ...env, PLINTH_BENCH_BEFORE },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk;
  });
  const exitCode = await new Promise((done, failed) => {
    child.once('error', failed);
    child.once('close', done);
  });
  if (exitCode !== 0) throw new Error(`${name} ended with ${String(exitCode)}`);
  return (JSON.parse(stdout) as { readonly results: readonly Result[] }).results.flatMap(({ figures }) => figures);
}

/** All of them, beside the earlier release if one is named. */
async function measured(
  measurement: Measurement,
  only: boolean,
  count: number | undefined,
): Promise<readonly Figure[]> {
  const figures = only ? await measurement.measure(say, count) : await apart(measurement);
  const earlier = measurement.isBeside === true && count === undefined ? earlierRelease(say) : undefined;
  if (earlier === undefined) return figures;
  try {
    return [...figures, ...besideRelease(figures, await apart(measurement, earlier.folder), earlier.commit)];
  } finally {
    removeRelease(earlier);
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, count: { type: 'string' }, json: { type: 'boolean', default: false } },
  });
  const count = values.count === undefined ? undefined : Number(values.count);
  if (count !== undefined && (values.only === undefined || !Number.isInteger(count) || count < 1)) {
    say('--count goes with --only, and is a whole number from 1 on.');
    return 2;
  }
  const chosen = measurements.filter(({ name }) => values.only === undefined || values.only === name);
  if (chosen.length === 0) {
    say(`--only must be one of ${measurements.map(({ name }) => name).join(', ')}, not "${values.only}".`);
    return 2;
  }
  const results: Result[] = [];
  const failed: string[] = [];
  for (const measurement of chosen) {
    const { name, title } = measurement;
    say(`${title} (${name})`);
    try {
      const figures = await measured(measurement, values.only !== undefined, count);
      results.push({ name, figures });
    } catch (error) {
      failed.push(name);
      say(`${name} could not be measured: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    }
  }
  const figures = results.flatMap((result) => result.figures);
  const all = {
    at: new Date().toISOString(),
    machine: { cores: availableParallelism(), node: process.version },
    results: results.map(({ name, figures: own }) => ({
      name,
      figures: own.map((figure) => ({ ...figure, ratio: ratioOf(figure) })),
    })),
  };
  if (values.json) process.stdout.write(`${JSON.stringify(all, null, 2)}\n`);
  else process.stdout.write(`\n${tableOf(figures)}\n`);
  if (values.only === undefined) {
    mkdirSync(dirname(resultsFile), { recursive: true });
    writeFileSync(resultsFile, `${JSON.stringify(all, null, 2)}\n`);
    say(`\nAlso in ${resultsFile}, on ${all.machine.cores} cores.`);
  }
  return failed.length === 0 ? 0 : 1;
}

process.exitCode = await main();
