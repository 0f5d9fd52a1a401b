/**
 * Estimates what a bootstrap costs, from its record. It counts VMs with their disks and addresses, from their creation in
 * Compute Engine until the removal of the project. VMs without an address pay for Cloud NAT. It doesn't count traffic, load
 * balancers, DNS and the registry.
 * A VM counts as running, unless plinth stopped it. Then its disks count alone.
 */
import type { LoadBalancers, VmView } from '../../shared/bootstrap/bootstrap.js';
import type { CostEstimate } from '../../shared/bootstrap/cost.js';
import { parseDuration } from '../../shared/bootstrap/duration.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { type BootstrapRecord, loadBalancersOf, machineAccessOf, optionsOf } from '../engine/record/documents.js';
import { removeAtOf } from '../engine/record/removal-rule.js';
import type { PlanFacts } from '../engine/step.js';
import { AddressOutput, AddressUnfinished, VmOutput, VmUnfinished } from '../steps/cloud/outputs.js';
import { addressesOf, isPublic, type VmSpec, vmsOf } from '../steps/topology.js';
import { diskRate, estimate, type Holding, hourlyOf, nanosOf, vmRate } from './estimate.js';
import type { PriceTable } from './prices.js';

type Provisioning = VmView['provisioning'];
const isSpot = (provisioning: Provisioning): boolean => provisioning === 'spot' || provisioning === 'preemptible';

type Costly = Pick<
  BootstrapRecord,
  | 'options'
  | 'machineAccess'
  | 'instances'
  | 'state'
  | 'createdAt'
  | 'deadlineAt'
  | 'protection'
  | 'endedAt'
  | 'orphan'
  | 'loadBalancers'
  | 'pauses'
>;

export function costOf(prices: PriceTable, record: Costly, now: Date): CostEstimate {
  const { holdings, goneAt, notes } = holdingsOf(prices, record, now);
  return estimate(prices, holdings, { now, expiresAt: new Date(removeAtOf(record)), goneAt }, notes);
}

/** What it holds or held, and when it was gone. What is still to be made counts from now on. */
export function holdingsOf(
  prices: PriceTable,
  record: Costly,
  now: Date,
): { readonly holdings: readonly Holding[]; readonly goneAt: Date | undefined; readonly notes: readonly string[] } {
  const options = optionsOf(record);
  // Only the outputs' schemas, not the steps: the function that looks at ceilings each minute holds no step.
  const outputOf = (step: string, key: string): unknown => record.instances[`${step}:${key}`]?.output;
  const unfinishedOf = (step: string, key: string): unknown => record.instances[`${step}:${key}`]?.unfinished;
  /** Google may leave out the creation time of a resource. */
  const sinceOf = (createdAt: string | undefined) => new Date(createdAt ?? record.createdAt);
  const expected = record.state === 'running' ? now : undefined;
  const rates = ratesOf(prices, { options, machineAccess: machineAccessOf(record) });

  const held: Holding[] = vmsOf(options).flatMap((spec): Holding[] => {
    const vm =
      VmOutput.safeParse(outputOf('vm', spec.name)).data ?? VmUnfinished.safeParse(unfinishedOf('vm', spec.name)).data;
    if (vm !== undefined && 'diskGb' in vm && vm.diskGb !== undefined) {
      return [{ since: sinceOf(vm.createdAt), ...rates.disks(vm.diskGb) }];
    }
    if (vm !== undefined) {
      const rate = rates.vm(spec, vm.machineType, vm.provisioning);
      return [{ since: sinceOf(vm.createdAt), ...rate }, ...pausesOf(record, spec.name, rate)];
    }
    return expected === undefined ? [] : [{ since: expected, ...rates.vm(spec, spec.machineType, wanted(options)) }];
  });
  const reserved = publicAddressesOf(options, loadBalancersOf(record)).flatMap((name): Holding[] => {
    const address =
      AddressOutput.safeParse(outputOf('address', name)).data ??
      AddressUnfinished.safeParse(unfinishedOf('address', name)).data;
    if (address !== undefined) return [{ since: sinceOf(address.createdAt), ...rates.address }];
    return expected === undefined ? [] : [{ since: expected, ...rates.address }];
  });
  const project = record.instances['project'];
  const goneAt =
    project?.state === 'gone'
      ? project.endedAt
      : record.state === 'removed'
        ? (record.endedAt ?? undefined)
        : undefined;
  return {
    holdings: record.orphan === true ? [{ since: now, hourly: ['what it was made of'] }] : [...held, ...reserved],
    goneAt: goneAt === undefined ? undefined : new Date(goneAt),
    notes: rates.notes,
  };
}

/** What a VM did not cost while it was stopped, as rates that are taken away, and given back when it starts again. */
function pausesOf({ pauses = [] }: Costly, name: string, rate: ReturnType<typeof vmRate>): Holding[] {
  const { hourly, savedHourly = 0n, stoppedHourly = 0n } = rate;
  if (typeof hourly !== 'bigint') return [];
  const machine = hourly - stoppedHourly;
  return pauses
    .filter(({ vm }) => vm === name)
    .flatMap(({ from, until }): Holding[] => [
      { since: new Date(from), hourly: -machine, savedHourly: -savedHourly },
      ...(until === undefined ? [] : [{ since: new Date(until), hourly: machine, savedHourly }]),
    ]);
}

/** So far, and by the hour from now on, in whole micro-units. Undefined if anything has no price. */
export function spentOf(
  prices: PriceTable,
  record: Costly,
  now: Date,
): { readonly micros: number; readonly microsAnHour: number } | undefined {
  const { holdings } = holdingsOf(prices, record, now);
  const hourly = hourlyOf(holdings);
  if (hourly === undefined) return undefined;
  const sum = holdings.reduce((total, { since, hourly: each }) => {
    const milliseconds = BigInt(Math.max(0, now.getTime() - since.getTime()));
    return typeof each === 'bigint' ? total + each * milliseconds : total;
  }, 0n);
  return { micros: Number(sum / 3_600_000_000n), microsAnHour: Number((hourly + 999n) / 1000n) };
}

/** The cost of a bootstrap before its creation, until `end` or for its time to live, with spot VMs if the options ask for them. */
export function costOfPlan(
  prices: PriceTable,
  facts: PlanFacts,
  now: Date,
  end?: string,
  loadBalancers: LoadBalancers = 'external',
): CostEstimate {
  const { options } = facts;
  const rates = ratesOf(prices, facts);
  const holdings = planned(prices, facts, now, loadBalancers);
  const expiresAt =
    end === undefined ? new Date(now.getTime() + (parseDuration(options.projectTtl) ?? 0) * 1000) : new Date(end);
  return estimate(prices, holdings, { now, expiresAt }, rates.notes);
}

/** All that the plan holds, from `since` on. */
function planned(prices: PriceTable, facts: PlanFacts, since: Date, loadBalancers: LoadBalancers): Holding[] {
  const { options } = facts;
  const rates = ratesOf(prices, facts);
  return [
    ...vmsOf(options).map((spec) => ({ since, ...rates.vm(spec, spec.machineType, wanted(options)) })),
    ...publicAddressesOf(options, loadBalancers).map(() => ({ since, ...rates.address })),
  ];
}

/** What a plan costs by the hour, in whole micro-units rounded up. Texts name what has no price. */
export function hourlyOfPlan(
  prices: PriceTable,
  facts: PlanFacts,
  loadBalancers: LoadBalancers,
): number | readonly string[] {
  const holdings = planned(prices, facts, new Date(0), loadBalancers);
  const sum = hourlyOf(holdings);
  if (sum !== undefined) return Number((sum + 999n) / 1000n);
  return [...new Set(holdings.flatMap(({ hourly }) => (typeof hourly === 'bigint' ? [] : hourly)))];
}

/** Addresses of the subnet cost nothing. */
const publicAddressesOf = (options: BootstrapOptions, loadBalancers: LoadBalancers) =>
  loadBalancers === 'internal' ? [] : addressesOf(options);

function wanted({ spotVms, preemptible }: BootstrapOptions): Provisioning {
  if (spotVms) return 'spot';
  return preemptible ? 'preemptible' : 'standard';
}

function ratesOf({ regions }: PriceTable, { options: { region, rootDiskSize }, machineAccess }: PlanFacts) {
  const prices = Object.hasOwn(regions, region) ? regions[region] : undefined;
  const unknown = { hourly: [`region ${region}`] };
  const address = prices?.staticAddressHour;
  const reserved = address === undefined ? [`reserved addresses in ${region}`] : nanosOf(address);
  return {
    /** What an estimate leaves out because it has no price. */
    notes: prices !== undefined && prices.natVmHour === undefined ? ['without Cloud NAT, which has no price here'] : [],
    address: prices === undefined ? unknown : { hourly: reserved },
    disks: (gb: number): Pick<Holding, 'hourly'> => {
      if (prices === undefined) return unknown;
      const price = prices.pdSsdGbMonth;
      return { hourly: price === undefined ? [`disks in ${region}`] : diskRate(price, gb) };
    },
    vm: ({ role, dataDisks }: VmSpec, machineType: string, provisioning: Provisioning) =>
      prices === undefined
        ? unknown
        : vmRate(prices, region, {
            machineType,
            isSpot: isSpot(provisioning),
            diskGb: dataDisks.reduce((sum, size) => sum + size, rootDiskSize),
            hasExternalAddress: isPublic({ role }, machineAccess),
          }),
  };
}
