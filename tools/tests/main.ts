/**
 * Runs one tier of the tests: `node dist/tools/tests/main.js TIER [options of mocha | files in place of the tier's]`.
 * `--write-durations` keeps how long each file of the tier took, which decides the order of the next run.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeBase } from '../../test/real-hosts/base.js';
import { prepareTools } from './programs.js';
import { readResults, secondsByFile, type TestResult } from './results.js';
import {
  durationsFile,
  filesOf,
  heldSeed,
  leavesRealHostsOut,
  readDurations,
  sourceOf,
  type Tier,
  type TierName,
  tiers,
} from './tiers.js';

const mocha = join(dirname(createRequire(import.meta.url).resolve('mocha/package.json')), 'bin', 'mocha.js');
const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Run {
  readonly exitCode: number;
  /** Undefined where the run broke off. */
  readonly results: readonly TestResult[] | undefined;
}

async function runMocha(tier: Tier, files: readonly string[], options: readonly string[], quiet = false): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-tests-'));
  const resultsFile = join(folder, 'results.json');
  const args = [
    ...['--no-config', '--enable-source-maps', '--timeout', String(tier.timeoutMs), '--slow', '5000'],
    ...['--reporter', join('test', 'report.cjs'), ...options, ...files],
  ];
  const holdsUp = process.env['CI'] !== undefined && tier !== tiers.nightly;
  const env = {
    PLINTH_TEST_SECONDS: String(tier.searchSeconds),
    ...(holdsUp && { PLINTH_TEST_SEED: String(heldSeed) }),
    ...process.env,
    PLINTH_TEST_RESULTS: resultsFile,
  };
  try {
    const child = spawn(process.execPath, [mocha, ...args], {
      stdio: ['inherit', quiet ? 'ignore' : 'inherit', 'inherit'],
      env,
    });
    // The terminal tells mocha as well, which ends its workers.
    const ignore = (): void => undefined;
    process.on('SIGINT', ignore);
    const exitCode = await new Promise<number>((resolve) => {
      child.once('close', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 1)));
    });
    process.off('SIGINT', ignore);
    return { exitCode, results: readResults(resultsFile) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One more than there are cores: tests also wait. */
const sideBySide = (): string[] => ['--parallel', '--jobs', String(availableParallelism() + 1)];

async function waiting(name: 'tools' | 'nightly'): Promise<number> {
  const tier: Tier = tiers[name];
  const { results = [] } = await runMocha(tier, filesOf(tier), ['--dry-run'], true);
  return results.filter(({ state }) => state !== 'hook').length;
}

function tellSlowest(results: readonly TestResult[], keep: boolean): void {
  const seconds = secondsByFile(results);
  const slowest = [...seconds].slice(0, 8).map(([file, each]) => `${sourceOf(file)} ${each.toFixed(0)} s`);
  say(`  The longest files: ${slowest.join(' · ')}`);
  if (!keep) return;
  const measured = [...seconds].map(([file, each]) => [sourceOf(file), Math.round(each)] as const);
  const isMeasured = new Set(measured.map(([file]) => file));
  const others = Object.entries(readDurations()).filter(([file]) => !isMeasured.has(file) && existsSync(file));
  const kept = [...measured.filter(([, each]) => each >= 1), ...others].sort(([, one], [, other]) => other - one);
  writeFileSync(durationsFile, `${JSON.stringify(Object.fromEntries(kept), undefined, 2)}\n`);
}

async function main([name = '', ...given]: readonly string[]): Promise<number> {
  if (!Object.hasOwn(tiers, name)) {
    say(
      `Which tests? One of: ${Object.entries(tiers)
        .map(([each, { title }]) => `${each} (${title})`)
        .join(', ')}.`,
    );
    return 2;
  }
  const tier: Tier = tiers[name as TierName];
  const files = given.filter((each) => each.endsWith('.js'));
  const keep = given.includes('--write-durations');
  const options = given.filter((each) => !files.includes(each) && each !== '--write-durations');
  if (name === 'tools' || name === 'nightly') {
    const missing = prepareTools(say);
    if (missing !== undefined) {
      say(missing);
      return 1;
    }
    if (leavesRealHostsOut())
      say('PLINTH_TEST_REAL_HOSTS is off: what needs real hosts is left out, and nothing is proven of it.');
    else await makeBase(say);
  }
  const run = await runMocha(tier, files.length > 0 ? files : filesOf(tier), [...sideBySide(), ...options]);
  const { exitCode } = run;
  if (run.results !== undefined && files.length === 0) tellSlowest(run.results, keep);
  if (name === 'node' && exitCode === 0 && files.length === 0) {
    say(
      `  ${await waiting('tools')} more tests need other programs (npm run test:tools), ${await waiting('nightly')} take long (npm run test:nightly).`,
    );
  }
  return exitCode;
}

process.exitCode = await main(process.argv.slice(2));
