/** Compute's quotas: compares the use of a project in a region with the limits that the world sets. */
import type { JsonObject, World } from '../kernel/api.js';
import { objectOf, objectsOf, textOf } from '../kernel/json-fields.js';
import { machineTypeOf } from './machine-types.js';
import { collections, type Held, heldIn, lastOf, type Place, quotaExceeded } from './resources.js';

/** Families of machine types whose CPUs have a quota of their own. All others count as CPUS. */
const familyMetrics = {
  c2: 'C2_CPUS',
  c2d: 'C2D_CPUS',
  c3: 'C3_CPUS',
  n2: 'N2_CPUS',
  n2d: 'N2D_CPUS',
  t2d: 'T2D_CPUS',
} as const;

const cpuMetrics = ['CPUS', 'PREEMPTIBLE_CPUS', ...Object.values(familyMetrics)] as const;
type CpuMetric = (typeof cpuMetrics)[number];

/** Metrics counted per region, in the order of regions.get. */
export const regionalMetrics = [
  'CPUS',
  'DISKS_TOTAL_GB',
  'STATIC_ADDRESSES',
  'IN_USE_ADDRESSES',
  'SSD_TOTAL_GB',
  'INSTANCES',
  'PREEMPTIBLE_CPUS',
  'E2_CPUS',
  ...Object.values(familyMetrics),
] as const;
/** Metrics counted per project. */
export const globalMetrics = ['NETWORKS', 'SUBNETWORKS', 'FIREWALLS', 'ROUTERS', 'CPUS_ALL_REGIONS'] as const;
export type Metric = (typeof regionalMetrics)[number] | (typeof globalMetrics)[number];

export interface Use {
  /** Include resources that are still being made. */
  readonly underWay: boolean;
}

export const isGlobalMetric = (metric: Metric): boolean => (globalMetrics as readonly string[]).includes(metric);

export function limitOf(world: World, place: Pick<Place, 'project' | 'region'>, metric: Metric): number {
  const region = isGlobalMetric(metric) ? 'global' : (place.region ?? 'global');
  const limit = world.quota(place.project.projectId, region, metric);
  return Number.isFinite(limit) ? limit : 1_000_000;
}

/** The metric that a VM's CPUs count against. Where preemptible CPUs have no quota, spot VMs count like the others. */
export function cpuMetricOf(world: World, place: Pick<Place, 'project' | 'region'>, resource: JsonObject): CpuMetric {
  const isSpot = objectOf(resource['scheduling'])?.['preemptible'] === true;
  if (isSpot && limitOf(world, place, 'PREEMPTIBLE_CPUS') > 0) return 'PREEMPTIBLE_CPUS';
  const family = lastOf(textOf(resource['machineType']) ?? '').split('-')[0] ?? '';
  return Object.hasOwn(familyMetrics, family) ? familyMetrics[family as keyof typeof familyMetrics] : 'CPUS';
}

const isCpuMetric = (metric: Metric): metric is CpuMetric => (cpuMetrics as readonly string[]).includes(metric);

type CountedMetric = Exclude<Metric, CpuMetric>;
type Kind = keyof typeof collections;

const sum = (resources: JsonObject[], one: (resource: JsonObject) => number): number =>
  resources.reduce((total, resource) => total + one(resource), 0);

const size = ({ sizeGb }: JsonObject): number => Number(sizeGb);
const each = (resources: JsonObject[]): number => resources.length;

/** What each metric counts: a collection, and how much its resources use. */
const counted: Readonly<Record<CountedMetric, readonly [Kind, (resources: JsonObject[]) => number]>> = {
  INSTANCES: ['instances', each],
  // Google lists it, and counts E2 machines as CPUS.
  E2_CPUS: ['instances', () => 0],
  IN_USE_ADDRESSES: ['instances', (all) => sum(all.filter(isUp), externalsOf)],
  CPUS_ALL_REGIONS: ['instances', (all) => sum(all.filter(isUp), cpusOf)],
  SSD_TOTAL_GB: ['disks', (all) => sum(all, (disk) => (isSsd(disk) ? size(disk) : 0))],
  DISKS_TOTAL_GB: ['disks', (all) => sum(all, (disk) => (isSsd(disk) ? 0 : size(disk)))],
  STATIC_ADDRESSES: ['addresses', (all) => all.filter(({ addressType }) => addressType !== 'INTERNAL').length],
  NETWORKS: ['networks', each],
  SUBNETWORKS: ['subnetworks', each],
  FIREWALLS: ['firewalls', each],
  ROUTERS: ['routers', each],
};

/** How much of `metric` the project uses. Regional metrics count in the region alone. */
function usageOf(world: World, place: Pick<Place, 'project' | 'region'>, metric: Metric, use: Use): number {
  const { projectId } = place.project;
  const where = isGlobalMetric(metric) ? undefined : place.region;
  const of = (kind: Kind): JsonObject[] =>
    heldIn(world, collections[kind], projectId)
      .filter(([path, one]) => within(path, projectId, where) && counts(one, use))
      .map(([, { resource }]) => resource);
  if (isCpuMetric(metric)) {
    const mine = of('instances').filter((vm) => isUp(vm) && cpuMetricOf(world, place, vm) === metric);
    return sum(mine, cpusOf);
  }
  const [kind, count] = counted[metric];
  return count(of(kind));
}

const counts = (one: Held, use: Use): boolean => use.underWay || one.phase !== 'making';

function within(path: string, project: string, region: string | undefined): boolean {
  if (region === undefined) return path.startsWith(`projects/${project}/`);
  return (
    path.startsWith(`projects/${project}/regions/${region}/`) || path.startsWith(`projects/${project}/zones/${region}-`)
  );
}

const isUp = ({ status }: JsonObject): boolean => status !== 'TERMINATED' && status !== 'SUSPENDED';

export const isSsd = ({ type }: JsonObject): boolean => ['pd-ssd', 'pd-balanced'].includes(lastOf(textOf(type) ?? ''));

/** The name of a custom type tells its CPUs: `n2-custom-4-8192`. */
export const cpusOf = ({ machineType }: JsonObject): number => {
  const name = lastOf(textOf(machineType) ?? '');
  return machineTypeOf(name)?.cpus ?? Number(/(?:^|-)custom-(\d+)-/.exec(name)?.[1] ?? 0);
};

export const externalsOf = ({ networkInterfaces }: JsonObject): number =>
  objectsOf(networkInterfaces).reduce((total, one) => total + objectsOf(one['accessConfigs']).length, 0);

/** The message for a quota that `more` would exceed. Undefined if there is room. */
export function quotaText(world: World, place: Place, metric: Metric, more: number, use: Use): string | undefined {
  const limit = limitOf(world, place, metric);
  const used = usageOf(world, place, metric, use);
  if (more === 0 || used + more <= limit) return undefined;
  return `Quota '${metric}' exceeded.  Limit: ${limit.toFixed(1)} ${isGlobalMetric(metric) ? 'globally' : `in region ${place.region}`}.`;
}

/** Refuses the request with 403. */
export function checkQuota(world: World, place: Place, metric: Metric, more = 1): void {
  const text = quotaText(world, place, metric, more, { underWay: true });
  if (text !== undefined) throw quotaExceeded(text);
}

export function quotasOf(world: World, place: Place, metrics: readonly Metric[]): JsonObject[] {
  return metrics.map((metric) => ({
    metric,
    limit: limitOf(world, place, metric),
    usage: usageOf(world, place, metric, { underWay: true }),
  }));
}
