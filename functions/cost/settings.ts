/** Settings of cost: prices, and what may be spent. */
import * as z from 'zod';
import { AmountText, microsOf } from '../../shared/bootstrap/money.js';
import type { Fault } from '../../shared/problems.js';
import { ifSet, optional, type Rows, setting, type Values } from '../setting.js';
import { PricesSetting, type PriceTable } from './prices.js';

const amount = AmountText.transform(microsOf);

export const costSettings = {
  PLINTH_USD_PER_HOUR: optional(
    amount,
    'The most that one bootstrap may cost an hour, in USD, by the estimate of its plan. Unset: no ceiling.',
  ),
  PLINTH_USD_PER_MONTH_OWNER: optional(
    amount,
    'The most that the bootstraps of one owner may come to in a calendar month (UTC), in USD. `extend` and `protect` count. Unset: no ceiling.',
  ),
  PLINTH_USD_PER_MONTH: optional(
    amount,
    'The most that all bootstraps may come to in a calendar month (UTC), in USD. `extend` and `protect` count. Unset: no ceiling.',
  ),
  PLINTH_WITHOUT_PRICE: setting(
    z.enum(['refuse', 'allow'], 'must be refuse or allow'),
    'What becomes of a bootstrap that lacks a price while one of these ceilings is set. `allow`: it counts as nothing.',
    'refuse',
  ),
  PLINTH_BEYOND_CEILING: setting(
    z.enum(['warn', 'stop'], 'must be warn or stop'),
    'What happens to a bootstrap that comes to cost more than a ceiling or its `--max-cost` allows. `warn`: its owner is warned. `stop`: its VMs are stopped, too, and kept with their disks. `restart-vms` starts them again once the ceiling is raised.',
    'warn',
  ),
  PLINTH_PRICES: setting(
    PricesSetting,
    'Prices that estimates of cost go by, as one JSON object: asOf, source, currency, and by region e2VcpuHour, e2MemoryGbHour, spotE2VcpuHour, spotE2MemoryGbHour, pdSsdGbMonth, staticAddressHour, externalAddressHour, natVmHour. `asOf` is a day, or a day for each of machines, spot, disks, addresses and nat. Unset: the list prices in functions/cost/default-prices.ts.',
    '',
  ),
} satisfies Rows;

type Read = Values<typeof costSettings>;

export interface CostConfig {
  /** Prices with a date, for estimates of cost. */
  readonly prices: PriceTable;
  /** What may be spent, in whole micro-units of USD. */
  readonly ceilings: {
    /** By one bootstrap in an hour. */
    readonly microsAnHour?: number;
    readonly monthOfOwner?: number;
    /** By all bootstraps in a month. */
    readonly month?: number;
    /** What becomes of a bootstrap without a price while there is a ceiling. */
    readonly withoutPrice: 'refuse' | 'allow';
    /** What happens to a bootstrap that comes to cost more than it may. `stop`: its VMs are stopped, and kept. */
    readonly beyond: 'warn' | 'stop';
  };
}

export const readCost = (read: Read): CostConfig => ({
  prices: read.PLINTH_PRICES,
  ceilings: {
    ...ifSet('microsAnHour', read.PLINTH_USD_PER_HOUR),
    ...ifSet('monthOfOwner', read.PLINTH_USD_PER_MONTH_OWNER),
    ...ifSet('month', read.PLINTH_USD_PER_MONTH),
    withoutPrice: read.PLINTH_WITHOUT_PRICE,
    beyond: read.PLINTH_BEYOND_CEILING,
  },
});

const ceilings = ['PLINTH_USD_PER_HOUR', 'PLINTH_USD_PER_MONTH_OWNER', 'PLINTH_USD_PER_MONTH'] as const;

/** Amounts of two currencies cannot be compared. */
export function costFaults(read: Partial<Read>): Fault[] {
  const currency = read.PLINTH_PRICES?.currency ?? 'USD';
  if (currency === 'USD') return [];
  return ceilings
    .filter((name) => read[name] !== undefined)
    .map((path) => ({ path, message: `is in USD, and the prices in PLINTH_PRICES are in ${currency}` }));
}
