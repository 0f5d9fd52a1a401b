/** What a run would do, and what it may cost at most. */
import type { Check } from './check.js';
import { ceilingOf, limit, sumOf } from './price.js';

export const ceiling = (checks: readonly Check[], region: string): number =>
  sumOf(
    checks.flatMap(({ costs = [] }) => costs),
    region,
  );

export function planOf(checks: readonly Check[], region: string): string {
  const makes = checks.flatMap(({ id, makes: what, costs = [] }) => {
    if (what === undefined) return [];
    const most = costs.reduce((sum, item) => sum + ceilingOf(item, region), 0);
    return [`  ${what}${most === 0 ? '' : `, at most ${most.toFixed(2)} USD`} (${id})`];
  });
  const sum = ceiling(checks, region);
  return [
    `${checks.length} checks. They make:`,
    ...makes,
    `It costs at most ${sum.toFixed(2)} USD, and never ${limit} USD.`,
  ].join('\n');
}

/** For `--list`. */
export const listOf = (checks: readonly Check[]): string =>
  checks.map(({ id, source, believes }) => `${id.padEnd(30)} ${source.padEnd(10)} ${believes}`).join('\n');
