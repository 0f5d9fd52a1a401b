/** What came of a run of tests, as test/report.cjs writes it. */
import { existsSync, readFileSync } from 'node:fs';

export interface TestResult {
  readonly state: 'passed' | 'failed' | 'pending' | 'hook';
  /** Compiled, from the top of the project. */
  readonly file?: string;
  readonly test: string;
  readonly ms: number;
  /** Of what failed: the first lines of its error. */
  readonly error?: readonly string[];
}

/** Undefined where the run ended before it could write them. */
export const readResults = (file: string): TestResult[] | undefined =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as TestResult[]) : undefined;

/** Seconds by file, hooks among them; longest first. */
export function secondsByFile(results: readonly TestResult[]): Map<string, number> {
  const seconds = new Map<string, number>();
  for (const { file, ms } of results) {
    if (file !== undefined) seconds.set(file, (seconds.get(file) ?? 0) + ms / 1000);
  }
  return new Map([...seconds].sort(([, one], [, other]) => other - one));
}
