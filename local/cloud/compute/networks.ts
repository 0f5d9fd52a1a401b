/** Compute's networks. Joined in compute.ts. */
import { type Effect, GoogleError, type Handler, type JsonObject, type World } from '../kernel/api.js';
import { flagOf, numberOf, objectOf, objectsOf, textOf } from '../kernel/json-fields.js';
import { begin, beginDelete, ending, failureOf, once } from './operations.js';
import { regions } from './places.js';
import { checkQuota } from './quotas.js';
import {
  collections,
  find,
  findReady,
  freshPath,
  type Held,
  held,
  inUseText,
  invalid,
  lastOf,
  link,
  listOf,
  notFound,
  notReady,
  type Place,
  pathOf,
  placeOf,
  serverFields,
  unlink,
} from './resources.js';

const { networks, subnetworks } = collections;

/** The network a body refers to, ready to be used. */
export function networkOf(reference: string, field: string, place: Place, world: World): { path: string; found: Held } {
  const path = pathOf(reference, field, place, world);
  const found = held(world, networks)[path];
  if (found === undefined) throw notFound(path);
  if (found.phase !== 'ready') throw notReady(path);
  return { path, found };
}

const insertNetwork: Handler = (call, world) => {
  const place = placeOf(call, world);
  const path = freshPath(call.body, place, world, networks);
  checkQuota(world, place, 'NETWORKS');
  const auto = flagOf(call.body['autoCreateSubnetworks']);
  if (call.body['IPv4Range'] !== undefined || auto === undefined) {
    throw invalid(
      'resource.IPv4Range',
      textOf(call.body['IPv4Range']) ?? '',
      'Legacy networks can no longer be created; set autoCreateSubnetworks to true or false.',
    );
  }
  const mtu = numberOf(call.body['mtu']) ?? 1460;
  if (mtu < 1300 || mtu > 8896) throw invalid('resource.mtu', String(mtu), 'Must be between 1300 and 8896.');
  const made = makeNetwork(path, call.body, world);
  return begin(call, world, place, {
    type: 'insert',
    target: path,
    targetId: String(made.resource['id']),
    seconds: 10,
    effect: 'compute.networks.inserted',
  });
};

export function makeNetwork(path: string, body: JsonObject, world: World): Held {
  const server = serverFields(path, networks, world);
  const routing = objectOf(body['routingConfig']) ?? {};
  const made: Held = {
    phase: 'making',
    resource: {
      ...body,
      ...server,
      selfLinkWithId: link(`${path.slice(0, path.lastIndexOf('/'))}/${server['id']}`),
      mtu: numberOf(body['mtu']) ?? 1460,
      autoCreateSubnetworks: flagOf(body['autoCreateSubnetworks']) ?? false,
      networkFirewallPolicyEnforcementOrder: body['networkFirewallPolicyEnforcementOrder'] ?? 'AFTER_CLASSIC_FIREWALL',
      routingConfig: { ...routing, routingMode: routing['routingMode'] ?? 'REGIONAL' },
    },
  };
  held(world, networks)[path] = made;
  return made;
}

function networkInserted(path: string, _args: JsonObject, world: World): undefined {
  const network = held(world, networks)[path];
  if (network === undefined) return;
  network.phase = 'ready';
}

/** How a network is shown: one of auto mode has a subnetwork in every region. */
function shown(path: string, resource: JsonObject): JsonObject {
  if (resource['autoCreateSubnetworks'] !== true) return resource;
  return {
    ...resource,
    subnetworks: regions.map((region) =>
      link(`projects/${path.split('/')[1]}/regions/${region}/subnetworks/${lastOf(path)}`),
    ),
  };
}

const patchNetwork: Handler = (call, world) => {
  const { path, found, place } = findReady(call, world, networks);
  const { routingConfig, mtu, networkFirewallPolicyEnforcementOrder, name } = call.body;
  if (name !== undefined && name !== found.resource['name'])
    throw invalid('resource.name', String(name), 'A network cannot be renamed.');
  found.resource = {
    ...found.resource,
    ...(mtu === undefined ? {} : { mtu }),
    ...(networkFirewallPolicyEnforcementOrder === undefined ? {} : { networkFirewallPolicyEnforcementOrder }),
    routingConfig: { ...objectOf(found.resource['routingConfig']), ...objectOf(routingConfig) },
  };
  return begin(call, world, place, {
    type: 'patch',
    target: path,
    targetId: String(found.resource['id']),
    seconds: 5,
    effect: 'compute.done',
  });
};

const deleteNetwork: Handler = (call, world) => {
  return beginDelete(call, world, findReady(call, world, networks), networks);
};

/** That something uses the network shows only here, in the operation. */
const networkDeleted = (path: string, _args: JsonObject, world: World) => {
  const network = held(world, networks)[path];
  if (network === undefined) return undefined;
  const user = userOfNetwork(world, path, network.resource['autoCreateSubnetworks'] === true);
  if (user !== undefined) {
    network.phase = 'ready';
    const error = new GoogleError(400, 'FAILED_PRECONDITION', inUseText('network', path, user));
    return failureOf(error, 'RESOURCE_IN_USE_BY_ANOTHER_RESOURCE');
  }
  for (const [at, { resource }] of Object.entries(held(world, subnetworks))) {
    if (unlink(String(resource['network'])) === path) delete held(world, subnetworks)[at];
  }
  delete held(world, networks)[path];
  return undefined;
};

function userOfNetwork(world: World, path: string, auto: boolean): string | undefined {
  const kinds = [collections.firewalls, collections.routers, collections.instances, ...(auto ? [] : [subnetworks])];
  for (const kind of kinds) {
    for (const [at, { resource }] of Object.entries(held(world, kind))) {
      const used = [resource['network'], ...objectsOf(resource['networkInterfaces']).map((one) => one['network'])];
      if (used.some((one) => unlink(String(one)) === path)) return at;
    }
  }
  return undefined;
}

const effectiveFirewalls: Handler = (call, world) => {
  const { path } = find(call, world, networks);
  const firewalls = Object.values(held(world, collections.firewalls))
    .map(({ resource }) => resource)
    .filter((resource) => unlink(String(resource['network'])) === path);
  return firewalls.length === 0 ? {} : { firewalls };
};

export const networkHandlers: Record<string, Handler> = {
  'compute.networks.insert': once(insertNetwork),
  'compute.networks.patch': once(patchNetwork),
  'compute.networks.delete': once(deleteNetwork),
  'compute.networks.get': (call, world) => {
    const { path, found } = find(call, world, networks);
    return shown(path, found.resource);
  },
  'compute.networks.list': (call, world) => {
    const { prefix } = placeOf(call, world);
    const mine = Object.entries(held(world, networks)).filter(([path]) => path.startsWith(`${prefix}/`));
    const all = mine.map(([path, { resource }]) => [path, shown(path, resource)] as const);
    return listOf(call, `${prefix}/networks`, 'compute#networkList', all);
  },
  'compute.networks.getEffectiveFirewalls': effectiveFirewalls,
};

export const networkEffects: Record<string, Effect> = {
  'compute.done': ending(() => undefined),
  'compute.networks.inserted': ending(networkInserted),
  'compute.networks.deleted': ending(networkDeleted),
};
