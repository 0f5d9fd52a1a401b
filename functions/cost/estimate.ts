/** Estimates costs from hourly rates and start times. Pure. */
import type { CostEstimate } from '../../shared/bootstrap/cost.js';
import type { PriceTable, RegionPrices } from './prices.js';

/** Google bills disks by the month. Its price pages count 730 hours. */
const hoursAMonth = 730;

/** Something that costs by the hour, from `since` on. */
export interface Holding {
  readonly since: Date;
  /** A text means that there is no price, and names what lacks one. */
  readonly hourly: number | string;
  /** How much more a standard VM would cost. */
  readonly savedHourly?: number;
}

export interface Span {
  readonly now: Date;
  /** When it will be removed, as far as is known. */
  readonly expiresAt: Date;
  /** When it was removed. Costs end there. */
  readonly goneAt?: Date | undefined;
}

export function estimate(
  { currency, asOf }: Pick<PriceTable, 'currency' | 'asOf'>,
  holdings: readonly Holding[],
  { now, expiresAt, goneAt }: Span,
): CostEstimate {
  const unknown = [...new Set(holdings.flatMap(({ hourly }) => (typeof hourly === 'string' ? [hourly] : [])))];
  const dated = { currency, pricesAsOf: asOf, unknown };
  if (unknown.length > 0) return dated;

  const end = goneAt ?? (expiresAt > now ? expiresAt : now);
  const sum = (rate: (holding: Holding) => number, until: Date): number =>
    round(holdings.reduce((total, each) => total + rate(each) * hoursBetween(each.since, until), 0));
  const costs = ({ hourly }: Holding) => Number(hourly);
  const saves = ({ savedHourly = 0 }: Holding) => savedHourly;
  return {
    ...dated,
    perHour: goneAt === undefined ? round(holdings.reduce((total, each) => total + costs(each), 0)) : 0,
    soFar: sum(costs, goneAt ?? now),
    untilExpiry: sum(costs, end),
    savedBySpot: sum(saves, goneAt ?? now),
    savedBySpotUntilExpiry: sum(saves, end),
  };
}

const hoursBetween = (from: Date, to: Date): number => Math.max(0, to.getTime() - from.getTime()) / 3_600_000;

/** A hundredth of a cent. More digits would feign precision. */
const round = (amount: number): number => Math.round(amount * 10_000) / 10_000;

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

/** The rate of a VM with its disks and public address. */
export function vmRate(prices: RegionPrices, vm: PricedVm): Pick<Holding, 'hourly' | 'savedHourly'> {
  const shape = shapeOf(vm.machineType);
  if (shape === undefined) return { hourly: `machine type ${vm.machineType}` };
  const of = (vcpuHour: number, gbHour: number) => shape.vcpus * vcpuHour + shape.memoryGb * gbHour;
  const standard = of(prices.e2VcpuHour, prices.e2MemoryGbHour);
  const machine = vm.isSpot ? of(prices.spotE2VcpuHour, prices.spotE2MemoryGbHour) : standard;
  const disks = (vm.diskGb * prices.pdSsdGbMonth) / hoursAMonth;
  const address = vm.hasExternalAddress ? prices.externalAddressHour : 0;
  return { hourly: machine + disks + address, savedHourly: standard - machine };
}
