/** Reads the price table for estimates: the setting PLINTH_PRICES, or the default one. */
import * as z from 'zod';
import { defaultPrices } from './default-prices.js';

const price = z.number('must be a number').positive('must be above 0').max(10_000, 'must be at most 10000');

const RegionPrices = z.strictObject({
  e2VcpuHour: price,
  e2MemoryGbHour: price,
  /** Spot and preemptible VMs cost the same. */
  spotE2VcpuHour: price,
  spotE2MemoryGbHour: price,
  pdSsdGbMonth: price,
  /** An address reserved for a gateway. */
  staticAddressHour: price,
  /** The address of a running VM. */
  externalAddressHour: price,
});
export type RegionPrices = z.infer<typeof RegionPrices>;

export const PriceTable = z.strictObject({
  asOf: z.iso.date('must be a day such as 2026-01-31'),
  source: z.string('must be a text').trim().min(1, 'must say where the prices are from').max(500),
  currency: z.string('must be a text').regex(/^[A-Z]{3}$/, 'must be a currency such as USD'),
  regions: z.record(z.string().regex(/^[a-z]+(?:-[a-z]+)+\d+$/), RegionPrices, 'must be an object by region'),
});
export type PriceTable = z.infer<typeof PriceTable>;

/** A table as JSON text. Reports all its faults at once, each with its path. An empty text means the default table. */
export const PricesSetting: z.ZodType<PriceTable, string> = z.string().transform((text, context) => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', message, input: text });
  if (text === '') return PriceTable.parse(defaultPrices);
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    refuse('must be JSON, as docs/operate/operations.md shows it');
    return z.NEVER;
  }
  const read = PriceTable.safeParse(given);
  if (read.success) return read.data;
  for (const { path, message } of read.error.issues)
    refuse(path.length === 0 ? message : `${path.join('.')} ${message}`);
  return z.NEVER;
});
