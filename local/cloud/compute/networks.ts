/** Compute's networks. */
import { GoogleError, type Handler, type JsonObject, type Served, type World } from '../kernel/api.js';
import { flagOf, numberOf, objectOf, objectsOf, textOf } from '../kernel/json-fields.js';
import { regions } from '../kernel/places.js';
import { defineCollection, type Found } from './collection.js';
import { firewallPoliciesAbove } from './firewall-policies.js';
import { ending, type Failure, failureOf } from './operations.js';
import {
  collections,
  find,
  type Held,
  held,
  inUseText,
  invalid,
  lastOf,
  link,
  type Place,
  pathOf,
  readyAt,
  serverFields,
  unlink,
} from './resources.js';

const { networks, subnetworks } = collections;

/** The network a body refers to. Throws unless it is ready. */
export function networkOf(reference: string, field: string, place: Place, world: World): { path: string; found: Held } {
  const path = pathOf(reference, field, place, world);
  return { path, found: readyAt(path, networks, world) };
}

function checkNetwork(body: JsonObject): void {
  if (body['IPv4Range'] !== undefined || flagOf(body['autoCreateSubnetworks']) === undefined) {
    throw invalid(
      'resource.IPv4Range',
      textOf(body['IPv4Range']) ?? '',
      'Legacy networks can no longer be created; set autoCreateSubnetworks to true or false.',
    );
  }
  const mtu = numberOf(body['mtu']) ?? 1460;
  if (mtu < 1300 || mtu > 8896) throw invalid('resource.mtu', String(mtu), 'Must be between 1300 and 8896.');
}

export function networkResource(path: string, body: JsonObject, world: World): JsonObject {
  const server = serverFields(path, networks, world);
  const routing = objectOf(body['routingConfig']) ?? {};
  return {
    ...body,
    ...server,
    selfLinkWithId: link(`${path.slice(0, path.lastIndexOf('/'))}/${server['id']}`),
    mtu: numberOf(body['mtu']) ?? 1460,
    autoCreateSubnetworks: flagOf(body['autoCreateSubnetworks']) ?? false,
    networkFirewallPolicyEnforcementOrder: body['networkFirewallPolicyEnforcementOrder'] ?? 'AFTER_CLASSIC_FIREWALL',
    routingConfig: { routingMode: 'REGIONAL', bgpBestPathSelectionMode: 'LEGACY', ...routing },
  };
}

/** Clients see a subnetwork in every region of a network of auto mode. */
function shown(path: string, resource: JsonObject): JsonObject {
  if (resource['autoCreateSubnetworks'] !== true) return resource;
  return {
    ...resource,
    subnetworks: regions.map((region) =>
      link(`projects/${path.split('/')[1]}/regions/${region}/subnetworks/${lastOf(path)}`),
    ),
  };
}

function patched({ found }: Found, body: JsonObject): JsonObject {
  const { routingConfig, mtu, networkFirewallPolicyEnforcementOrder, name } = body;
  if (name !== undefined && name !== found.resource['name'])
    throw invalid('resource.name', String(name), 'A network cannot be renamed.');
  return {
    ...found.resource,
    ...(mtu === undefined ? {} : { mtu }),
    ...(networkFirewallPolicyEnforcementOrder === undefined ? {} : { networkFirewallPolicyEnforcementOrder }),
    routingConfig: { ...objectOf(found.resource['routingConfig']), ...objectOf(routingConfig) },
  };
}

/** A deletion is accepted while the network is in use. Only its operation fails. */
function inUseFailure(path: string, { resource }: Held, world: World): Failure | undefined {
  const user = userOfNetwork(world, path, resource['autoCreateSubnetworks'] === true);
  if (user === undefined) return undefined;
  const error = new GoogleError(400, 'FAILED_PRECONDITION', inUseText('network', path, user));
  return failureOf(error, 'RESOURCE_IN_USE_BY_ANOTHER_RESOURCE');
}

function deleteItsParts(path: string, _found: Held, world: World): void {
  for (const [at, { resource }] of Object.entries(held(world, subnetworks))) {
    if (unlink(String(resource['network'])) === path) delete held(world, subnetworks)[at];
  }
}

function userOfNetwork(world: World, path: string, auto: boolean): string | undefined {
  const { firewalls, routers, instances } = collections;
  for (const kind of [firewalls, routers, instances, ...(auto ? [] : [subnetworks])]) {
    for (const [at, { resource }] of Object.entries(held(world, kind))) {
      const used = [resource['network'], ...objectsOf(resource['networkInterfaces']).map((one) => one['network'])];
      if (used.some((one) => unlink(String(one)) === path)) return at;
    }
  }
  return undefined;
}

const effectiveFirewalls: Handler = (call, world) => {
  const { path, place } = find(call, world, networks);
  const firewalls = Object.values(held(world, collections.firewalls))
    .map(({ resource }) => resource)
    .filter((resource) => unlink(String(resource['network'])) === path);
  const firewallPolicys = firewallPoliciesAbove(world, place.project.projectId);
  return {
    ...(firewalls.length === 0 ? {} : { firewalls }),
    ...(firewallPolicys.length === 0 ? {} : { firewallPolicys }),
  };
};

const served = defineCollection({
  of: networks,
  quota: 'NETWORKS',
  seconds: { change: 5 },
  operationTypes: { patch: 'compute.networks.patch' },
  make({ call, path }, world) {
    checkNetwork(call.body);
    return networkResource(path, call.body, world);
  },
  changes: { patch: patched },
  keeps: inUseFailure,
  deleted: deleteItsParts,
  shown,
});

export const servedNetworks: Served = {
  handlers: { ...served.handlers, 'compute.networks.getEffectiveFirewalls': effectiveFirewalls },
  effects: { ...served.effects, 'compute.done': ending(() => undefined) },
};
