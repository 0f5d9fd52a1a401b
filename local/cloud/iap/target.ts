/** What a tunnel leads to, and whether the caller may have it. */
import { collections, held } from '../compute/resources.js';
import { type Caller, GoogleError, type World } from '../kernel/api.js';
import { withProjectId } from '../kernel/projects.js';
import { mayUseService } from '../org-policy/enforcement.js';
import { type Closing, closings } from './wire.js';

export interface Target {
  /** `projects/P/zones/Z/instances/N` */
  readonly path: string;
  readonly port: number;
}

const service = 'iap.googleapis.com';
const permission = 'iap.tunnelInstances.accessViaIAP';

/** Parameters of a tunnel to a host instead of a VM. Google has them, and the simulated cloud does not. */
const ofHosts = ['host', 'network', 'region', 'group'];

/** The target in a URL's query, or the HTTP status that refuses it. */
export function readTarget(world: World, query: URLSearchParams): Target | number {
  if (ofHosts.some((name) => query.has(name))) return 501;
  const [project, zone, instance] = ['project', 'zone', 'instance'].map((name) => query.get(name) ?? '');
  const port = Number(query.get('port'));
  if (!project || !zone || !instance || !query.get('interface')) return 400;
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return 400;
  return { path: withProjectId(world, `projects/${project}/zones/${zone}/instances/${instance}`), port };
}

/**
 * Whether the caller may open tunnels to a VM: who may not learns nothing about it.
 *
 * Google's guides ask for the API. Its FAQ says that what IAP secures stays reachable without it. This follows the guides.
 */
export function mayTunnel(world: World, caller: Caller, { path }: Pick<Target, 'path'>): boolean {
  const [, project = '', , zone = '', , instance = ''] = path.split('/');
  try {
    world.project(project, { service });
  } catch (error) {
    if (error instanceof GoogleError) return false;
    throw error;
  }
  if (!mayUseService(world, project, service)) return false;
  const resource = `projects/${project}/iap_tunnel/zones/${zone}/instances/${instance}`;
  return world.policies.allows(caller, permission, resource);
}

/** Why there is no such VM to connect to, if there is none. IAP finds only VMs that run, and their first interface. */
export function refusalOf(world: World, { path }: Target, nic: string): Closing | undefined {
  const found = held(world, collections.instances)[path];
  const runs = found?.resource['status'] === 'RUNNING';
  return runs && nic === 'nic0' ? undefined : closings.lookupFailed;
}
