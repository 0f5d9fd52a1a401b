/**
 * What bootstraps may cost by the month, counted from the price that each was admitted at. All amounts are whole micro-units.
 * Pure. The counts hold the sums over all records, and change in the same commit as the record.
 */
import type { BootstrapRecord } from './documents.js';
import { removeAtOf } from './removal-rule.js';

/** By month, `2026-11`, in UTC. */
export type ByMonth = Readonly<Record<string, number>>;

type Priced = Pick<BootstrapRecord, 'price' | 'createdAt' | 'deadlineAt' | 'protection' | 'state' | 'endedAt'>;

const monthOf = (at: string): string => at.slice(0, 7);

function nextMonth(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

const hour = 3_600_000n;

/** What an hourly price comes to between two times, rounded up in each month. */
function spendBetween(microsAnHour: number, from: string, until: string): ByMonth {
  const end = Date.parse(until);
  const spend: Record<string, number> = {};
  for (let at = Date.parse(from); at < end; at = nextMonth(at)) {
    const milliseconds = BigInt(Math.min(end, nextMonth(at)) - at);
    const micros = (BigInt(microsAnHour) * milliseconds + hour - 1n) / hour;
    spend[monthOf(new Date(at).toISOString())] = Number(micros);
  }
  return spend;
}

/** From its beginning to its end as far as it is known. Records of earlier releases have no price, and count as nothing. */
export function spendOf(record: Priced): ByMonth {
  if (record.price === undefined) return {};
  const end = record.state === 'removed' && record.endedAt !== undefined ? record.endedAt : removeAtOf(record);
  return spendBetween(record.price.microsAnHour, record.createdAt, end);
}

/** What `after` adds to `before`. Months that do not change are left out. */
export function moreThan(before: ByMonth, after: ByMonth): ByMonth {
  const months = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Object.fromEntries(
    [...months].flatMap((month) => {
      const more = (after[month] ?? 0) - (before[month] ?? 0);
      return more === 0 ? [] : [[month, more]];
    }),
  );
}

/** What is counted of a record, and for whom. */
export type Counted = Priced & Pick<BootstrapRecord, 'owner' | 'team'>;

/** Months that are over or come to nothing are left out. */
export function plus(before: ByMonth, more: ByMonth, at: string): ByMonth {
  const now = monthOf(at);
  const months = [...new Set([...Object.keys(before), ...Object.keys(more)])].filter((month) => month >= now);
  return Object.fromEntries(
    months.sort().flatMap((month) => {
      const sum = Math.max(0, (before[month] ?? 0) + (more[month] ?? 0));
      return sum === 0 ? [] : [[month, sum]];
    }),
  );
}

export function sumOf(spends: readonly ByMonth[]): ByMonth {
  const sum: Record<string, number> = {};
  for (const spend of spends) {
    for (const [month, micros] of Object.entries(spend)) sum[month] = (sum[month] ?? 0) + micros;
  }
  return sum;
}

/** Only what `after` adds. What was counted beyond it stays: it is of records that are lost, or newer than those at hand. */
export const missingIn = (before: ByMonth, after: ByMonth): ByMonth =>
  Object.fromEntries(Object.entries(moreThan(before, after)).filter(([, micros]) => micros > 0));

/** When the last of these months is over. */
export function endOfMonths(spend: ByMonth): string | undefined {
  const last = Object.keys(spend).sort().at(-1);
  return last === undefined ? undefined : new Date(nextMonth(Date.parse(`${last}-01T00:00:00.000Z`))).toISOString();
}
