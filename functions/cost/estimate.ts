/** Estimates costs from hourly rates and start times. Pure. */
import type { CostEstimate } from '../../shared/bootstrap/cost.js';
import { daysOf, type PriceTable, type RegionPrices } from './prices.js';

/** Google bills disks by the month. Its price pages count 730 hours. */
const hoursAMonth = 730n;

/** Prices have at most nine decimals. Sums of whole billionths are exact. */
export const nanosOf = (price: number): bigint => BigInt(Math.round(price * 1e9));

/** Something that costs by the hour, from `since` on. */
export interface Holding {
  readonly since: Date;
  /** In billionths of the currency. Texts mean that there is no price, and name what lacks one. */
  readonly hourly: bigint | readonly string[];
  /** How much more a standard VM would cost, in billionths. */
  readonly savedHourly?: bigint;
}

export interface Span {
  readonly now: Date;
  /** When it will be removed, as far as is known. */
  readonly expiresAt: Date;
  /** When it was removed. Costs end there. */
  readonly goneAt?: Date | undefined;
}

/** `notes` are added to those about the age of the prices. */
export function estimate(
  table: Pick<PriceTable, 'currency' | 'asOf'>,
  holdings: readonly Holding[],
  { now, expiresAt, goneAt }: Span,
  remarks: readonly string[],
): CostEstimate {
  const unknown = [...new Set(holdings.flatMap(({ hourly }) => (typeof hourly === 'bigint' ? [] : hourly)))];
  const { pricesAsOf, notes: old } = datedOf(table, now);
  const notes = [...remarks, ...old];
  const dated = {
    currency: table.currency,
    pricesAsOf,
    unknown,
    ...(notes.length === 0 ? {} : { notes }),
  };
  if (unknown.length > 0) return dated;

  const end = goneAt ?? (expiresAt > now ? expiresAt : now);
  const sum = (rate: (holding: Holding) => bigint, until: Date): number =>
    shown(holdings.reduce((total, each) => total + rate(each) * between(each.since, until), 0n) / hour);
  const costs = ({ hourly }: Holding) => (typeof hourly === 'bigint' ? hourly : 0n);
  const saves = ({ savedHourly = 0n }: Holding) => savedHourly;
  return {
    ...dated,
    perHour: goneAt === undefined ? shown(hourlyOf(holdings) ?? 0n) : 0,
    soFar: sum(costs, goneAt ?? now),
    untilExpiry: sum(costs, end),
    savedBySpot: sum(saves, goneAt ?? now),
    savedBySpotUntilExpiry: sum(saves, end),
  };
}

/** How old the prices are. */
export function datedOf(
  table: Pick<PriceTable, 'asOf'>,
  now: Date,
): { readonly pricesAsOf: string; readonly notes: readonly string[] } {
  const [pricesAsOf = ''] = Object.values(daysOf(table)).sort();
  return { pricesAsOf, notes: oldPrices(table, now) };
}

/** List prices change about once a year. */
const oldAfterYears = 2;

function oldPrices(table: Pick<PriceTable, 'asOf'>, now: Date): string[] {
  const limit = new Date(now);
  limit.setUTCFullYear(limit.getUTCFullYear() - oldAfterYears);
  return Object.entries(daysOf(table)).flatMap(([kind, day]) =>
    new Date(day) < limit
      ? [`${kind === 'prices' ? 'the prices' : `the prices of ${kind}`} are of ${day}, more than two years old`]
      : [],
  );
}

/** The rate of SSD disks, in billionths. `monthly` is the price of a GB for a month. */
export const diskRate = (monthly: number, gb: number): bigint => (BigInt(gb) * nanosOf(monthly)) / hoursAMonth;

/** The sum by the hour, in billionths. Undefined if anything has no price. */
export function hourlyOf(holdings: readonly Pick<Holding, 'hourly'>[]): bigint | undefined {
  let sum = 0n;
  for (const { hourly } of holdings) {
    if (typeof hourly !== 'bigint') return undefined;
    sum += hourly;
  }
  return sum;
}

const hour = 3_600_000n;
/** In milliseconds. */
const between = (from: Date, to: Date): bigint => BigInt(Math.max(0, to.getTime() - from.getTime()));

/** Rounded to a hundredth of a cent. More digits would feign precision. */
const shown = (nanos: bigint): number => Number((nanos + 50_000n) / 100_000n) / 10_000;

/** The billed cores and GB of a machine type. A shared core counts by its share. Undefined for an unknown type. */
function shapeOf(machineType: string): { readonly vcpus: number; readonly memoryGb: number } | undefined {
  const shared = { 'e2-micro': 0.25, 'e2-small': 0.5, 'e2-medium': 1 }[machineType];
  if (shared !== undefined) return { vcpus: shared, memoryGb: shared * 4 };
  const [, kind, count] = /^e2-(standard|highmem|highcpu)-(2|4|8|16|32)$/.exec(machineType) ?? [];
  if (kind === undefined) return undefined;
  const vcpus = Number(count);
  return { vcpus, memoryGb: vcpus * { standard: 4, highmem: 8, highcpu: 1 }[kind as 'standard'] };
}

export interface PricedVm {
  readonly machineType: string;
  readonly isSpot: boolean;
  readonly diskGb: number;
  readonly hasExternalAddress: boolean;
}

/**
 * The rate of a VM with its disks, and its public address or its part of Cloud NAT. A stopped VM has the disks alone. `region`
 * names what lacks a price.
 */
export function vmRate(
  prices: RegionPrices,
  region: string,
  vm: PricedVm,
): Pick<Holding, 'hourly' | 'savedHourly'> & { readonly stoppedHourly?: bigint } {
  const shape = shapeOf(vm.machineType);
  if (shape === undefined) return { hourly: [`machine type ${vm.machineType}`] };
  // A shared core counts in quarters.
  const quarters = BigInt(shape.vcpus * 4);
  const of = (vcpuHour: number | undefined, gbHour: number | undefined) =>
    vcpuHour === undefined || gbHour === undefined
      ? undefined
      : (quarters * nanosOf(vcpuHour)) / 4n + BigInt(shape.memoryGb) * nanosOf(gbHour);
  const standard = of(prices.e2VcpuHour, prices.e2MemoryGbHour);
  const spot = of(prices.spotE2VcpuHour, prices.spotE2MemoryGbHour);
  const { pdSsdGbMonth: disk, externalAddressHour: address } = prices;
  const parts: Readonly<Record<string, bigint | undefined>> = {
    [vm.isSpot ? 'spot machines' : 'machines']: vm.isSpot ? spot : standard,
    disks: disk === undefined ? undefined : diskRate(disk, vm.diskGb),
    ...(vm.hasExternalAddress
      ? { 'public addresses': address === undefined ? undefined : nanosOf(address) }
      : { 'Cloud NAT': nanosOf(prices.natVmHour ?? 0) }),
  };
  const missing = Object.keys(parts).filter((kind) => parts[kind] === undefined);
  if (missing.length > 0) return { hourly: missing.map((kind) => `${kind} in ${region}`) };
  return {
    hourly: Object.values(parts).reduce<bigint>((sum, part = 0n) => sum + part, 0n),
    stoppedHourly: parts['disks'] ?? 0n,
    ...(vm.isSpot && standard !== undefined && spot !== undefined ? { savedHourly: standard - spot } : {}),
  };
}
