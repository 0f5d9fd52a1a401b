/** What a run may cost at most. Each thing counts as long as it could stand, and never as a spot or free one. */
import { defaultPrices } from '../../functions/cost/default-prices.js';

/** A run takes some minutes. If it is killed, its project must be removed by hand. */
const hours = 2;

/**
 * Prices of what estimates of bootstraps leave out, in USD: Cloud DNS, Secret Manager and Cloud Load Balancing as their pages
 * listed them in 2026. A zone and the version of a secret count as a whole month.
 */
const others = { zone: 0.2, secret: 0.06, forwardingRule: 0.025 * hours } as const;

export type Item = 'vm' | 'disk' | 'address' | keyof typeof others;

type Prices = Readonly<Record<string, number | undefined>>;
const byRegion = defaultPrices.regions as Readonly<Record<string, Prices>>;

/** A region without a price counts as the dearest one. */
function priceOf(region: string, name: string): number {
  const all = Object.values(byRegion).flatMap((prices) => prices[name] ?? []);
  return byRegion[region]?.[name] ?? Math.max(...all);
}

/** In USD. */
export function ceilingOf(item: Item, region: string): number {
  switch (item) {
    case 'vm':
      // An e2-small: its two shared cores are billed as less than two.
      return hours * (2 * priceOf(region, 'e2VcpuHour') + 2 * priceOf(region, 'e2MemoryGbHour'));
    case 'disk':
      return (hours / 730) * 10 * priceOf(region, 'pdSsdGbMonth');
    case 'address':
      return hours * priceOf(region, 'staticAddressHour');
    default:
      return others[item];
  }
}

/** What the bill of a run may never pass, in USD. */
export const limit = 1;

export const sumOf = (items: readonly Item[], region: string): number =>
  items.reduce((sum, item) => sum + ceilingOf(item, region), 0);
