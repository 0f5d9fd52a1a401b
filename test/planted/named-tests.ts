/** Runs the tests of some names in a scratch copy, and tells how each ended. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from './fault.js';
import type { ScratchCopy } from './scratch-copy.js';

interface Told {
  readonly fullTitle: string;
  readonly err: { readonly stack?: string; readonly message?: string; readonly cause?: { readonly name?: string } };
}

export interface Ended {
  readonly passed: readonly string[];
  /** By an assertion. */
  readonly failed: readonly string[];
  /** By a time limit, a hook, an error of the test's own; or left out. With the reason. */
  readonly broken: readonly string[];
}

/** The same run for the sound copy and the faulty one, so that nothing but the fault can tell them apart. */
export async function runNamedTests(copy: ScratchCopy, faults: readonly Fault[]): Promise<Ended> {
  const files = new Set(faults.flatMap(({ tests }) => tests.map((glob) => `dist/test/${glob}`)));
  const names = faults.map(({ fails }) => fails.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|');
  const report = join(copy.folder, 'planted.json');
  rmSync(report, { force: true });
  // A test that fails may leave behind what would keep its process from ending.
  const how = ['--no-config', '--exit', '--timeout', '60000', ...(files.size > 1 ? ['--parallel', '--jobs', '2'] : [])];
  const output = ['--reporter', 'json', '--reporter-option', `output=${report}`];
  const mocha = join('node_modules', 'mocha', 'bin', 'mocha.js');
  const ran = await copy.run(process.execPath, [mocha, ...how, ...output, '--grep', names, ...files]);
  if (!existsSync(report)) throw new Error(`The tests did not run to their end:\n${ran.output.slice(-4000)}`);
  const { passes, failures, pending } = JSON.parse(readFileSync(report, 'utf8')) as Record<string, readonly Told[]>;
  const told = failures ?? [];
  return {
    passed: (passes ?? []).map(({ fullTitle }) => fullTitle),
    failed: told.filter(isAssertion).map(({ fullTitle }) => fullTitle),
    broken: [
      ...told.filter((each) => !isAssertion(each)).map(({ fullTitle, err }) => `${fullTitle}: ${err.message}`),
      ...(pending ?? []).map(({ fullTitle }) => `${fullTitle}: left out`),
    ],
  };
}

/** fast-check throws an error of its own, with the assertion as its cause. */
const isAssertion = ({ fullTitle, err: { stack = '', cause } }: Told): boolean =>
  !/"(?:before|after) (?:all|each)" hook/.test(fullTitle) &&
  (stack.startsWith('AssertionError') || cause?.name === 'AssertionError');
