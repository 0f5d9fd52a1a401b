/**
 * Sums up what bootstraps have cost so far: by owner, team, project, day or month. Each bootstrap and day is rounded once, so every
 * way to sum up comes to the same total. Pure.
 */
import type { CostGroup, CostsView } from '../../shared/bootstrap/costs.js';
import { amountText } from '../../shared/bootstrap/money.js';
import type { StoredBootstrap } from '../engine/record/documents.js';
import { datedOf, type Holding } from './estimate.js';
import { holdingsOf } from './of-bootstrap.js';
import type { PriceTable } from './prices.js';

/** Days, both included. */
export interface Period {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const dayMs = 86_400_000;
const hour = 3_600_000n;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** In whole micro-units, by day. */
function byDay(holdings: readonly Holding[], until: Date): Map<string, number> {
  const nanos = new Map<string, bigint>();
  const end = until.getTime();
  for (const { since, hourly } of holdings) {
    if (typeof hourly !== 'bigint') continue;
    for (let at = since.getTime(); at < end; at = (Math.floor(at / dayMs) + 1) * dayMs) {
      const milliseconds = BigInt(Math.min(end, (Math.floor(at / dayMs) + 1) * dayMs) - at);
      nanos.set(dayOf(at), (nanos.get(dayOf(at)) ?? 0n) + hourly * milliseconds);
    }
  }
  return new Map([...nanos].map(([day, sum]) => [day, Number((sum / hour + 500n) / 1000n)]));
}

type Row = CostsView['rows'][number] & { micros: number };

export function costsOf(
  prices: PriceTable,
  bootstraps: readonly StoredBootstrap[],
  by: CostGroup,
  { from = '', to = '9999' }: Period,
  now: Date,
): CostsView {
  const rows = new Map<string, { row: Omit<Row, 'amount' | 'bootstraps'>; ids: Set<string> }>();
  const unknown = new Set<string>();
  const notes = new Set<string>();
  let total = 0;
  for (const { id, data } of bootstraps) {
    const { holdings, goneAt, notes: told } = holdingsOf(prices, data, now);
    const missing = holdings.flatMap(({ hourly }) => (typeof hourly === 'bigint' ? [] : hourly));
    for (const each of missing) unknown.add(each);
    if (missing.length > 0) continue;
    for (const note of told) notes.add(note);
    for (const [day, micros] of byDay(holdings, goneAt ?? now)) {
      if (day < from || day > to || micros === 0) continue;
      const key = {
        owner: data.owner,
        team: String(data.team ?? '-'),
        project: data.projectId,
        day,
        month: day.slice(0, 7),
      }[by];
      const more = by === 'project' ? { name: data.name, owner: data.owner } : {};
      const found = rows.get(key) ?? { row: { key, ...more, micros: 0 }, ids: new Set() };
      found.row.micros += micros;
      found.ids.add(id);
      rows.set(key, found);
      total += micros;
    }
  }
  const { pricesAsOf, notes: old } = datedOf(prices, now);
  return {
    by,
    currency: prices.currency,
    pricesAsOf,
    rows: [...rows.values()]
      .sort((a, b) => (a.row.key < b.row.key ? -1 : 1))
      .map(({ row: { micros, ...row }, ids }) => ({ ...row, bootstraps: ids.size, amount: amountText(micros) })),
    total: amountText(total),
    unknown: [...unknown].sort(),
    notes: [...notes, ...old],
  };
}
