/** Compute's quotas: compares the use of a project in a region with the limits that the world sets. */
import type { JsonObject, World } from '../kernel/api.js';
import { objectsOf, textOf } from '../kernel/json-fields.js';
import { machineTypeOf } from './machine-types.js';
import { collections, type Held, heldIn, lastOf, type Place, quotaExceeded } from './resources.js';

/** Metrics counted per region, in the order of regions.get. */
export const regionalMetrics = [
  'CPUS',
  'DISKS_TOTAL_GB',
  'STATIC_ADDRESSES',
  'IN_USE_ADDRESSES',
  'SSD_TOTAL_GB',
  'INSTANCES',
  'PREEMPTIBLE_CPUS',
] as const;
/** Metrics counted per project. */
export const globalMetrics = ['NETWORKS', 'SUBNETWORKS', 'FIREWALLS', 'ROUTERS', 'SNAPSHOTS'] as const;
export type Metric = (typeof regionalMetrics)[number] | (typeof globalMetrics)[number];

export interface Use {
  /** Include resources that are still being made. */
  readonly underWay: boolean;
  /** Path of a resource to leave out. */
  readonly but?: string;
}

function limitOf(world: World, place: Place, metric: Metric): number {
  const region = (globalMetrics as readonly string[]).includes(metric) ? 'global' : (place.region ?? 'global');
  const limit = world.quota(place.project.projectId, region, metric);
  return Number.isFinite(limit) ? limit : 1_000_000;
}

/** How much of `metric` the project uses. Regional metrics count in the region alone. */
function usageOf(world: World, project: string, region: string | undefined, metric: Metric, use: Use): number {
  const of = (collection: (typeof collections)[keyof typeof collections]): JsonObject[] =>
    heldIn(world, collection, project)
      .filter(([path, one]) => within(path, project, region) && path !== use.but && counts(one, use))
      .map(([, { resource }]) => resource);
  switch (metric) {
    case 'CPUS':
      return sum(of(collections.instances).filter(isUp), cpusOf);
    case 'PREEMPTIBLE_CPUS':
      // Google counts preemptible CPUs as CPUS if they have no limit of their own. The simulated cloud always does.
      return 0;
    case 'INSTANCES':
      return of(collections.instances).length;
    case 'IN_USE_ADDRESSES':
      return sum(of(collections.instances).filter(isUp), externalsOf);
    case 'SSD_TOTAL_GB':
      return sum(of(collections.disks).filter(isSsd), ({ sizeGb }) => Number(sizeGb));
    case 'DISKS_TOTAL_GB':
      return sum(
        of(collections.disks).filter((disk) => !isSsd(disk)),
        ({ sizeGb }) => Number(sizeGb),
      );
    case 'STATIC_ADDRESSES':
      return of(collections.addresses).filter(({ addressType }) => addressType !== 'INTERNAL').length;
    case 'NETWORKS':
      return of(collections.networks).length;
    case 'SUBNETWORKS':
      return of(collections.subnetworks).length;
    case 'FIREWALLS':
      return of(collections.firewalls).length;
    case 'ROUTERS':
      return of(collections.routers).length;
    case 'SNAPSHOTS':
      return of(collections.snapshots).length;
  }
}

const counts = (one: Held, use: Use): boolean => use.underWay || one.phase !== 'making';

function within(path: string, project: string, region: string | undefined): boolean {
  if (region === undefined) return path.startsWith(`projects/${project}/`);
  return (
    path.startsWith(`projects/${project}/regions/${region}/`) || path.startsWith(`projects/${project}/zones/${region}-`)
  );
}

const sum = (resources: JsonObject[], one: (resource: JsonObject) => number): number =>
  resources.reduce((total, resource) => total + one(resource), 0);

const isUp = ({ status }: JsonObject): boolean => status !== 'TERMINATED' && status !== 'SUSPENDED';

export const isSsd = ({ type }: JsonObject): boolean => ['pd-ssd', 'pd-balanced'].includes(lastOf(textOf(type) ?? ''));

export const cpusOf = ({ machineType }: JsonObject): number =>
  machineTypeOf(lastOf(textOf(machineType) ?? ''))?.cpus ?? 0;

export const externalsOf = ({ networkInterfaces }: JsonObject): number =>
  objectsOf(networkInterfaces).reduce((total, one) => total + objectsOf(one['accessConfigs']).length, 0);

/** The message for a quota that `more` would exceed. Undefined if there is room. */
export function quotaText(world: World, place: Place, metric: Metric, more: number, use: Use): string | undefined {
  const regional = (regionalMetrics as readonly string[]).includes(metric);
  const limit = limitOf(world, place, metric);
  const used = usageOf(world, place.project.projectId, regional ? place.region : undefined, metric, use);
  if (more === 0 || used + more <= limit) return undefined;
  return `Quota '${metric}' exceeded.  Limit: ${limit.toFixed(1)} ${regional ? `in region ${place.region}` : 'globally'}.`;
}

/** Refuses the request with 403. */
export function checkQuota(world: World, place: Place, metric: Metric, more = 1): void {
  const text = quotaText(world, place, metric, more, { underWay: true });
  if (text !== undefined) throw quotaExceeded(text);
}

export const quotasOf = (world: World, place: Place, metrics: readonly Metric[]): JsonObject[] =>
  metrics.map((metric) => ({
    metric,
    limit: limitOf(world, place, metric),
    usage: usageOf(world, place.project.projectId, place.region, metric, { underWay: true }),
  }));
