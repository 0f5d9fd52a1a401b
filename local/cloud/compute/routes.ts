/** Compute's routes: those that callers make, and the default ones. */
import type { CloudCall, Handler, JsonObject, Served, World } from '../kernel/api.js';
import { notSimulated } from '../kernel/errors.js';
import { textOf } from '../kernel/json-fields.js';
import { defineCollection, looksOf, type Wanted } from './collection.js';
import { defaultPath, hashed } from './default-routes.js';
import { parseIp, parseRange } from './ip-ranges.js';
import { networkOf } from './networks.js';
import {
  checkName,
  collections,
  held,
  heldIn,
  invalid,
  lastOf,
  link,
  listOf,
  type Place,
  pathOf,
  placeOf,
  serverFields,
  stamp,
} from './resources.js';
import { ensureAutoSubnetworks } from './subnetworks.js';

const { routes, instances, subnetworks } = collections;

const served = ['nextHopGateway', 'nextHopInstance', 'nextHopIp'];

function make({ call: { body }, path, place }: Wanted, world: World): JsonObject {
  const network = networkOf(textOf(body['network']) ?? '', 'resource.network', place, world);
  const destRange = textOf(body['destRange']) ?? '';
  if (parseRange(destRange) === undefined) {
    throw invalid('resource.destRange', destRange, 'Must be a CIDR address range that begins with its first address.');
  }
  for (const [index, tag] of (Array.isArray(body['tags']) ? body['tags'] : []).entries()) {
    checkName(String(tag), `resource.tags[${index}]`);
  }
  return {
    ...body,
    ...nextHop(body, place, world),
    ...serverFields(path, routes, world),
    network: link(network.path),
    priority: body['priority'] ?? 1000,
    routeType: 'STATIC',
  };
}

function nextHop(body: JsonObject, place: Place, world: World): JsonObject {
  const [hop, ...more] = Object.keys(body).filter((field) => field.startsWith('nextHop'));
  if (hop === undefined || more.length > 0) {
    throw invalid('resource.nextHop', [hop, ...more].join(','), 'Exactly one next hop must be specified.');
  }
  const field = `resource.${hop}`;
  const value = textOf(body[hop]) ?? '';
  if (!served.includes(hop)) {
    throw notSimulated(`routes with ${hop}`);
  }
  if (hop === 'nextHopIp') {
    if (parseIp(value) === undefined) throw invalid(field, value, 'Must be an IPv4 address.');
    return {};
  }
  const path = pathOf(value, field, place, world);
  if (hop === 'nextHopGateway' && lastOf(path) !== 'default-internet-gateway') {
    throw invalid(field, value, 'Must be the default internet gateway.');
  }
  if (hop === 'nextHopInstance' && held(world, instances)[path] === undefined) {
    throw invalid(field, value, 'The referenced instance resource cannot be found.');
  }
  return { [hop]: link(path) };
}

/** The routes to the subnetworks of a project. They are derived, because they live and die with their subnetworks. */
function subnetworkRoutes(world: World, projectId: string): (readonly [path: string, route: JsonObject])[] {
  ensureAutoSubnetworks(world, projectId);
  return heldIn(world, subnetworks, projectId)
    .filter(([, { phase }]) => phase !== 'making')
    .map(([at, { resource }]) => routeTo(at, resource));
}

function routeTo(at: string, { id, network, ipCidrRange, creationTimestamp }: JsonObject) {
  const path = defaultPath(at, String(id));
  const route: JsonObject = {
    kind: routes.kind,
    // Its own id, which follows from that of the subnetwork.
    id: String(BigInt(`0x${hashed(path)}`) >> 1n),
    creationTimestamp: creationTimestamp ?? stamp(0),
    selfLink: link(path),
    name: lastOf(path),
    description: `Default local route to the subnetwork ${String(ipCidrRange)}.`,
    network: network ?? '',
    destRange: ipCidrRange ?? '',
    priority: 0,
    nextHopNetwork: network ?? '',
  };
  return [path, route] as const;
}

function all(call: CloudCall, world: World): (readonly [string, JsonObject])[] {
  const { projectId } = placeOf(call, world).project;
  const stored = heldIn(world, routes, projectId).map(([path, { resource }]) => [path, resource] as const);
  return [...stored, ...subnetworkRoutes(world, projectId)];
}

const list: Handler = (call, world) =>
  listOf(call, `${placeOf(call, world).prefix}/routes`, `${routes.kind}List`, all(call, world));

const plain = defineCollection({ of: routes, make });

const localOf = (call: CloudCall, world: World): JsonObject | undefined => {
  const { projectId } = placeOf(call, world).project;
  return subnetworkRoutes(world, projectId).find(([path]) => lastOf(path) === call.params['route'])?.[1];
};

const looks = looksOf({ of: routes });

const get: Handler = (call, world) => localOf(call, world) ?? looks.get(call, world);

const remove: Handler = (call, world) => {
  const local = localOf(call, world);
  if (local !== undefined) {
    throw invalid('route', String(local['name']), 'The local route cannot be deleted. It goes with its subnetwork.');
  }
  return plain.handlers['compute.routes.delete']?.(call, world) ?? {};
};

export const servedRoutes: Served = {
  handlers: {
    ...plain.handlers,
    'compute.routes.list': list,
    'compute.routes.get': get,
    'compute.routes.delete': remove,
  },
  effects: plain.effects,
};
