/**
 * Money, reckoned from the records and from the VMs that the simulated cloud really held: the counters are the sum of what
 * bootstraps were admitted for, no month passes a ceiling, and the estimate is what ran.
 */
import { spentOf } from '../../functions/cost/of-bootstrap.js';
import type { PriceTable } from '../../functions/cost/prices.js';
import type { BootstrapRecord } from '../../functions/engine/record/documents.js';
import { held, collections as kinds } from '../../local/cloud/compute/resources.js';
import type { World } from '../../local/cloud/kernel/api.js';
import { collections } from '../../shared/names.js';
import type { Stage } from './bootstraps-stage.js';

const hourMs = 3_600_000;
const gbHoursOfMonth = 730;
/** Functions see a VM some looks after it was made, and cleanup and a removal take their time. */
const tolerance = 0.02;
const toleranceHours = 0.3;

/** A VM or a reserved address. */
interface Thing {
  readonly projectId: string;
  /** In USD an hour. */
  readonly rate: number;
  readonly since: number;
  until?: number;
}

/** In USD, from the shape that the cloud gives a VM: e2-standard-4 has 4 CPUs and 16 GB. */
function rateOf(prices: PriceTable, resource: Record<string, unknown>, world: World): number {
  const text = (name: string): string =>
    String(resource[name] ?? '')
      .split('/')
      .at(-1) ?? '';
  const [, kind = '', cpus = '0'] = /^e2-(standard|highmem|highcpu)-(\d+)$/.exec(text('machineType')) ?? [];
  const gbOfCpu = { standard: 4, highmem: 8, highcpu: 1 }[kind] ?? 0;
  const { provisioningModel, preemptible } = (resource['scheduling'] ?? {}) as Record<string, unknown>;
  const isSpot = provisioningModel === 'SPOT' || preemptible === true;
  const region = text('zone').slice(0, -2);
  const table = prices.regions[region];
  if (table === undefined) return 0;
  const [cpu = 0, gb = 0] = isSpot
    ? [table.spotE2VcpuHour, table.spotE2MemoryGbHour]
    : [table.e2VcpuHour, table.e2MemoryGbHour];
  const disks = Object.values(held(world, kinds.disks))
    .filter((disk) => ((disk.resource['users'] ?? []) as string[]).includes(String(resource['selfLink'])))
    .reduce((sum, disk) => sum + Number(disk.resource['sizeGb']), 0);
  const [network] = (resource['networkInterfaces'] ?? []) as { readonly accessConfigs?: readonly unknown[] }[];
  const reached = (network?.accessConfigs ?? []).length > 0 ? (table.externalAddressHour ?? 0) : (table.natVmHour ?? 0);
  const ofDisks = (disks * (table.pdSsdGbMonth ?? 0)) / gbHoursOfMonth;
  return Number(cpus) * (cpu + gbOfCpu * gb) + ofDisks + reached;
}

const rateOfAddress = ({ regions }: PriceTable, { region, addressType }: Record<string, unknown>): number =>
  addressType === 'INTERNAL' ? 0 : (regions[String(region).split('/').at(-1) ?? '']?.staticAddressHour ?? 0);

export interface MoneyJudge {
  /** After each commit. */
  look(records: readonly BootstrapRecord[]): void;
  /** Its project goes now. */
  leaves(record: BootstrapRecord): void;
}

/** A document of `counters`. */
interface Count {
  readonly owner?: string;
  readonly team?: number;
  readonly spend?: Readonly<Record<string, number>>;
}

export function createMoneyJudge(
  { memory, direct, scheduler, living }: Stage,
  month: number | undefined,
  wrong: (what: string) => void,
): MoneyJudge {
  const { prices } = living('bootstraps').context.config;
  const things = new Map<string, Thing>();
  let before = new Map<string, number>();

  /** In whole micro-units. */
  function admitted({ price, createdAt, deadlineAt, protection, state, endedAt }: BootstrapRecord): number {
    if (price === undefined) return 0;
    const term = Math.max(Date.parse(deadlineAt), Date.parse(protection?.until ?? '') || 0);
    const end = state === 'removed' && endedAt !== undefined ? Date.parse(endedAt) : term;
    return Math.ceil((price.microsAnHour * (end - Date.parse(createdAt))) / hourMs);
  }

  function judgeCounters(records: readonly BootstrapRecord[]): void {
    const counts = Object.values(memory.seen(collections.counters)) as Count[];
    const countedOf = (wanted: (count: Count) => boolean): number =>
      Object.values(counts.find(wanted)?.spend ?? {})[0] ?? 0;
    const inAll = countedOf(({ owner, team }) => owner === undefined && team === undefined);
    const sums = new Map<string, number>();
    const sumsOfTeams = new Map<string, number>();
    for (const record of records) {
      const amount = admitted(record);
      sums.set(record.owner, (sums.get(record.owner) ?? 0) + amount);
      const team = String(record.team);
      if (record.team !== undefined) sumsOfTeams.set(team, (sumsOfTeams.get(team) ?? 0) + amount);
    }
    const all = [...sums.values()].reduce((sum, each) => sum + each, 0);
    if (Math.abs(all - inAll) > records.length)
      wrong(`bootstraps were admitted for ${all} micro-units, and the counter says ${inAll}`);
    for (const [owner, sum] of sums) {
      const counted = countedOf((count) => count.owner === owner);
      if (Math.abs(sum - counted) > records.length)
        wrong(`bootstraps of ${owner} were admitted for ${sum} micro-units, and the counter says ${counted}`);
    }
    for (const [team, sum] of sumsOfTeams) {
      const counted = countedOf((count) => String(count.team) === team);
      if (Math.abs(sum - counted) > records.length)
        wrong(`bootstraps of team ${team} were admitted for ${sum} micro-units, and the counter says ${counted}`);
    }
    const now = new Map(records.map((record) => [record.projectId, admitted(record)]));
    const grows = records.some(
      ({ projectId, state }) => state !== 'removed' && (now.get(projectId) ?? 0) > (before.get(projectId) ?? 0),
    );
    before = now;
    if (month !== undefined && grows && all > month * 1e6)
      wrong(`bootstraps may come to ${month} USD a month, and are admitted for ${all / 1e6}`);
  }

  /** As the cloud holds them now. */
  function seeThings(): void {
    const found = { ...held(direct.world, kinds.instances), ...held(direct.world, kinds.addresses) };
    const standing = new Set<string>();
    for (const [path, { resource }] of Object.entries(found)) {
      // One that is made again has another id.
      const key = `${path} ${resource['id']}`;
      standing.add(key);
      if (things.has(key)) continue;
      const [, projectId = ''] = /projects\/([^/]+)/.exec(path) ?? [];
      const rate = path.includes('/instances/')
        ? rateOf(prices, resource, direct.world)
        : rateOfAddress(prices, resource);
      things.set(key, { projectId, rate, since: scheduler.time() });
    }
    for (const [key, thing] of things) {
      if (thing.until === undefined && !standing.has(key)) thing.until = scheduler.time();
    }
  }

  return {
    look(records) {
      seeThings();
      judgeCounters(records);
    },
    leaves(record) {
      seeThings();
      const { projectId } = record;
      const now = scheduler.time();
      const own = [...things.values()].filter((each) => each.projectId === projectId);
      const ran = own.reduce((sum, { rate, since, until = now }) => sum + (rate * (until - since)) / hourMs, 0);
      const told = spentOf(prices, record, new Date(now));
      if (told === undefined || own.length === 0 || record.pauses !== undefined) return;
      const estimated = told.micros / 1e6;
      const rate = own.reduce((sum, each) => sum + each.rate, 0);
      if (Math.abs(estimated - ran) > tolerance * ran + toleranceHours * rate)
        wrong(`VMs of ${projectId} ran for ${ran.toFixed(3)} USD, and the estimate is ${estimated.toFixed(3)}`);
    },
  };
}
