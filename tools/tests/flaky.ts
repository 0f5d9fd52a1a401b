/**
 * Tests that may fail once and pass when tried again: only those that test/flaky.json names, with a reason, until a date.
 * All others fail the run at their first failure.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

export const flakyFile = join('test', 'flaky.json');

const FlakyTest = z.strictObject({
  /** Its full title. */
  test: z.string().min(1),
  reason: z.string().min(20),
  /** The last day on which it is excused. */
  until: z.iso.date(),
});
export type FlakyTest = z.infer<typeof FlakyTest>;

export const readFlakyTests = (text = readFileSync(flakyFile, 'utf8')): FlakyTest[] =>
  z.array(FlakyTest).parse(JSON.parse(text));

/** Undefined if one of these is not excused today. */
export function excusesFor(
  tests: readonly string[],
  flaky: readonly FlakyTest[],
  today = new Date().toISOString().slice(0, 10),
): FlakyTest[] | undefined {
  const excuses = tests.map((test) => flaky.find((each) => each.test === test && today <= each.until));
  return excuses.some((excuse) => excuse === undefined) ? undefined : (excuses as FlakyTest[]);
}
