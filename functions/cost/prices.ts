/** Reads the price table for estimates: the setting PLINTH_PRICES, or the default one. */
import * as z from 'zod';
import { defaultPrices } from './default-prices.js';

const price = z.number('must be a number').positive('must be above 0').max(10_000, 'must be at most 10000');

/** What has no price is absent. An estimate then names it. */
const RegionPrices = z.strictObject({
  e2VcpuHour: price.optional(),
  e2MemoryGbHour: price.optional(),
  /** Spot and preemptible VMs cost the same. */
  spotE2VcpuHour: price.optional(),
  spotE2MemoryGbHour: price.optional(),
  pdSsdGbMonth: price.optional(),
  /** An address reserved for a gateway. */
  staticAddressHour: price.optional(),
  /** The address of a running VM. */
  externalAddressHour: price.optional(),
  /** What Cloud NAT costs for each VM that uses it. */
  natVmHour: price.optional(),
});
export type RegionPrices = z.infer<typeof RegionPrices>;

const day = z.iso.date('must be a day such as 2026-01-31');

/** A day for each kind of price. */
const Days = z.strictObject({ machines: day, spot: day, disks: day, addresses: day, nat: day.optional() });

export const PriceTable = z.strictObject({
  asOf: z.union([day, Days], 'must be a day such as 2026-01-31, or a day for each kind of price'),
  source: z.string('must be a text').trim().min(1, 'must say where the prices are from').max(500),
  currency: z.string('must be a text').regex(/^[A-Z]{3}$/, 'must be a currency such as USD'),
  regions: z.record(z.string().regex(/^[a-z]+(?:-[a-z]+)+\d+$/), RegionPrices, 'must be an object by region'),
});
export type PriceTable = z.infer<typeof PriceTable>;

/** The day of each kind of price. Prices of one day have one kind. */
export const daysOf = ({ asOf }: Pick<PriceTable, 'asOf'>): Readonly<Record<string, string>> =>
  typeof asOf === 'string' ? { prices: asOf } : (asOf as Readonly<Record<string, string>>);

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
