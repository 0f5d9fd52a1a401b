/**
 * What bootstraps may cost by the month, counted from the price that each was admitted at. All amounts are whole micro-units.
 * Pure. The counters hold the sum over all records, and change in the same commit as the record.
 */
import type { BootstrapRecord, CountersRecord } from './documents.js';
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

type Spend = NonNullable<CountersRecord['spend']>;
type Amounts = Readonly<Record<string, number>>;
/** Whom an amount is counted for, besides all. */
type Payer = Pick<BootstrapRecord, 'owner' | 'team'>;

/** What is counted of a record. */
export type Counted = Priced & Payer;

/** What comes to nothing is left out. */
function addTo(amounts: Amounts, key: string, more: number): Amounts {
  const { [key]: before = 0, ...others } = amounts;
  const sum = Math.max(0, before + more);
  return sum === 0 ? others : { ...others, [key]: sum };
}

/** Months that are over are dropped. Nothing is decided by them. */
export function addSpend(before: Spend = {}, { owner, team }: Payer, more: ByMonth, at: string): Spend {
  const now = monthOf(at);
  const months = [...new Set([...Object.keys(before), ...Object.keys(more)])].filter((month) => month >= now);
  return Object.fromEntries(
    months.sort().flatMap((month) => {
      const { inAll = 0, byOwner = {}, byTeam = {} } = before[month] ?? {};
      const amount = more[month] ?? 0;
      const all = Math.max(0, inAll + amount);
      if (all === 0) return [];
      const ofTeams = team === undefined ? byTeam : addTo(byTeam, String(team), amount);
      const teams = Object.keys(ofTeams).length === 0 ? {} : { byTeam: ofTeams };
      return [[month, { inAll: all, byOwner: addTo(byOwner, owner, amount), ...teams }]];
    }),
  );
}

function sumOf(spends: readonly ByMonth[]): ByMonth {
  const sum: Record<string, number> = {};
  for (const spend of spends) {
    for (const [month, micros] of Object.entries(spend)) sum[month] = (sum[month] ?? 0) + micros;
  }
  return sum;
}

/**
 * The spend with no less for a team than its records come to. What was counted beyond that stays: it is of records that are lost,
 * or newer than those at hand.
 */
export function raiseTeam(before: Spend = {}, team: number, spends: readonly ByMonth[]): Spend {
  const sum = sumOf(spends);
  return Object.fromEntries(
    Object.entries(before).map(([month, { byTeam = {}, ...others }]) => {
      const missing = Math.max(0, (sum[month] ?? 0) - (byTeam[String(team)] ?? 0));
      const ofTeams = addTo(byTeam, String(team), missing);
      return [month, { ...others, ...(Object.keys(ofTeams).length > 0 && { byTeam: ofTeams }) }];
    }),
  );
}

/** The spend with all that an owner's records come to, in place of what was counted for the owner. Teams keep what they had. */
export function recount(before: Spend = {}, owner: string, spends: readonly ByMonth[], at: string): Spend {
  const counted = Object.fromEntries(
    Object.entries(before).map(([month, { byOwner }]) => [month, byOwner[owner] ?? 0]),
  );
  return addSpend(before, { owner }, moreThan(counted, sumOf(spends)), at);
}
