/** Quotas that Google raised for single projects. */
import type { World } from '../kernel/api.js';

const granted = (world: Pick<World, 'table'>): Record<string, number> => world.table<number>('cloudquotas.granted');

const keyOf = (projectId: string, region: string, metric: string): string => `${projectId} ${region} ${metric}`;

/** The limit that was granted. Undefined if the world's own limit holds. A global quota has the region `global`. */
export const grantedQuota = (
  world: Pick<World, 'table'>,
  projectId: string,
  region: string,
  metric: string,
): number | undefined =>
  granted(world)[keyOf(projectId, region, metric)] ?? granted(world)[keyOf(projectId, '*', metric)];

/** The region `*` means every region. */
export function grantQuota(world: World, projectId: string, region: string, metric: string, limit: number): void {
  granted(world)[keyOf(projectId, region, metric)] = limit;
}
