/**
 * The part of Google's load balancers that clusters on simulated machines need: it gives addresses to services. The stand-in
 * for k0s asks.
 *
 * A requested address must be free and reserved in the project and region of the asking node. The node's account must be
 * allowed to use it. Without a request, a service gets an ephemeral address.
 */
import { text } from 'node:stream/consumers';
import { freshExternalIp, useAddresses } from '../../cloud/compute/addresses.js';
import { collections, type Held, held, type Place } from '../../cloud/compute/resources.js';
import type { World } from '../../cloud/kernel/api.js';
import { textsOf } from '../../cloud/kernel/json-fields.js';
import { projectTable } from '../../cloud/projects/projects.js';
import { listenNear } from '../../loopback.js';
import { allVms } from '../vms.js';

/** All services of type LoadBalancer in a cluster, as its cloud controller knows them. */
export interface Asked {
  /** The cluster's own id. */
  readonly cluster: string;
  /** The machine that sends the request. */
  readonly node: { readonly name: string; readonly address: string };
  /** By `<namespace>/<name>`: the wanted address, or null for any. */
  readonly services: Readonly<Record<string, string | null>>;
}

/** By service: its address, or the reason why it has none. */
export type Given = Readonly<Record<string, { readonly ip: string } | { readonly why: string }>>;

interface Kept {
  readonly ip: string;
  /** Path of the reserved address. Missing for an ephemeral one. */
  readonly path?: string;
}

function giveAddresses(world: World, { cluster, node, services }: Asked): Given {
  const table = world.table<Kept>('local.loadBalancers');
  const keyOf = (service: string): string => `${cluster} ${service}`;
  const release = (key: string): void => {
    const { ip, path } = table[key] ?? {};
    if (ip !== undefined && path !== undefined)
      useAddresses(world, placeOf(world, path), [ip], ruleOf(path, key), false);
    delete table[key];
  };
  for (const [key, { ip }] of Object.entries(table)) {
    if (!key.startsWith(`${cluster} `)) continue;
    const wanted = services[key.slice(cluster.length + 1)];
    if (wanted === undefined || (wanted !== null && wanted !== ip)) release(key);
  }
  const give = (service: string, wanted: string | null): { ip: string } | { why: string } => {
    const key = keyOf(service);
    const has = table[key];
    if (has !== undefined) return { ip: has.ip };
    if (wanted === null) {
      table[key] = { ip: freshExternalIp(world) };
      return { ip: table[key].ip };
    }
    const [path, found] = Object.entries(held(world, collections.addresses)).find(
      ([, { resource }]) => resource['address'] === wanted && resource['addressType'] === 'EXTERNAL',
    ) ?? ['', undefined];
    const why = whyNot(world, wanted, path, found, node);
    if (why !== undefined) return { why };
    useAddresses(world, placeOf(world, path), [wanted], ruleOf(path, key), true);
    table[key] = { ip: wanted, path };
    return { ip: wanted };
  };
  return Object.fromEntries(Object.entries(services).map(([service, wanted]) => [service, give(service, wanted)]));
}

/** The reason in the words of the cloud controller (`ensureStaticIP` and its callers in cloud-provider-gcp). */
function whyNot(
  world: World,
  ip: string,
  path: string,
  found: Held | undefined,
  node: Asked['node'],
): string | undefined {
  const [, projectId = '', , region = ''] = path.split('/');
  const vm = allVms(world).find(
    (each) => each.projectId === projectId && each.name === node.name && each.address === node.address,
  );
  const isThere = vm?.path.split('/')[3]?.startsWith(`${region}-`) === true;
  if (found === undefined || vm === undefined || !isThere) {
    return `requested ip "${ip}" is neither static nor assigned to the LB`;
  }
  const [email] = vm.serviceAccounts;
  const caller = { kind: 'serviceAccount', email: email ?? '' } as const;
  if (email === undefined || !world.policies.allows(caller, 'compute.addresses.use', `projects/${projectId}`)) {
    return `googleapi: Error 403: Required 'compute.addresses.use' permission for '${path}', forbidden`;
  }
  const [user] = textsOf(found.resource['users']);
  return user === undefined ? undefined : `requested ip "${ip}" is in use by ${user}`;
}

const ruleOf = (path: string, key: string): string =>
  `${path.slice(0, path.indexOf('/addresses/'))}/forwardingRules/${key.replaceAll(/[^a-z0-9-]/g, '-')}`;

function placeOf(world: World, path: string): Place {
  const [, projectId = '', , region] = path.split('/');
  const project = projectTable(world)[projectId];
  if (project === undefined) throw new Error(`no project ${projectId}`);
  return {
    project,
    scope: `regions/${region}`,
    prefix: `projects/${projectId}/regions/${region}`,
    region,
    zone: undefined,
  };
}

export interface LoadBalancers {
  /** The URL that machines ask. */
  readonly url: string;
  close(): Promise<void>;
}

export async function startLoadBalancers(world: World): Promise<LoadBalancers> {
  const ports = world.table<number>('ports');
  const { url, port, close } = await listenNear((request, response) => {
    text(request)
      .then((body) => response.end(JSON.stringify(giveAddresses(world, JSON.parse(body) as Asked))))
      .catch((error: Error) => response.writeHead(500).end(error.message));
  }, ports['loadBalancers']);
  ports['loadBalancers'] = port;
  return { url, close };
}
