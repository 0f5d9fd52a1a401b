/** Compute's routers and their NATs. */
import type { Handler, JsonObject, Served, World } from '../kernel/api.js';
import { notSimulated } from '../kernel/errors.js';
import { objectOf, objectsOf, textOf, textsOf } from '../kernel/json-fields.js';
import { useAddress } from './addresses.js';
import { defineCollection, type Found, type Wanted } from './collection.js';
import { networkOf } from './networks.js';
import {
  checkName,
  collections,
  find,
  held,
  inUse,
  invalid,
  link,
  notFound,
  type Place,
  pathOf,
  required,
  serverFields,
  unlink,
} from './resources.js';

const { routers } = collections;

/** Routers are here for their NATs. */
function make({ call, path, place }: Wanted, world: World): JsonObject {
  const reference = textOf(call.body['network']);
  if (reference === undefined || reference === '') throw required('resource.network');
  const network = networkOf(reference, 'resource.network', place, world);
  const router = {
    ...routerOf(call.body, place, world),
    ...serverFields(path, routers, world),
    network: link(network.path),
    region: link(`projects/${place.project.projectId}/${place.scope}`),
  };
  useNatAddresses(path, {}, router, world);
  return router;
}

function changed({ path, found, place }: Found, wanted: JsonObject, world: World): JsonObject {
  const { kind, id, creationTimestamp, selfLink, name, network, region } = found.resource;
  const server = { kind, id, creationTimestamp, selfLink, name, network, region } as JsonObject;
  const router = { ...routerOf(wanted, place, world), ...server };
  useNatAddresses(path, found.resource, router, world);
  return router;
}

/** The name and the network of a router cannot change. */
const changeable = ({ network: _network, name: _name, ...given }: JsonObject): JsonObject => given;

function routerOf(body: JsonObject, place: Place, world: World): JsonObject {
  const { nats, ...rest } = body;
  const unserved = ['interfaces', 'bgpPeers', 'md5AuthenticationKeys'].find(
    (field) => objectsOf(body[field]).length > 0,
  );
  if (unserved !== undefined) throw notSimulated(`routers with ${unserved}`);
  const bgp = objectOf(body['bgp']);
  const filled = objectsOf(nats).map((nat, index) => natOf(nat, `resource.nats[${index}]`, place, world));
  const names = filled.map((nat) => nat['name']);
  const double = names.find((name, index) => names.indexOf(name) !== index);
  if (double !== undefined) throw invalid('resource.nats', String(double), 'NAT names must be unique within a router.');
  return {
    ...rest,
    ...(bgp === undefined ? {} : { bgp: { advertiseMode: 'DEFAULT', keepaliveInterval: 20, ...bgp } }),
    ...(filled.length === 0 ? {} : { nats: filled }),
  };
}

function natOf(nat: JsonObject, field: string, place: Place, world: World): JsonObject {
  const name = textOf(nat['name']);
  if (name === undefined) throw required(`${field}.name`);
  checkName(name, `${field}.name`);
  const ranges = textOf(nat['sourceSubnetworkIpRangesToNat']);
  if (ranges === undefined) throw required(`${field}.sourceSubnetworkIpRangesToNat`);
  if (nat['type'] === 'PRIVATE') throw notSimulated('private NAT');
  const option = textOf(nat['natIpAllocateOption']);
  if (option === undefined) throw required(`${field}.natIpAllocateOption`);
  const ips = textsOf(nat['natIps']);
  if (option === 'AUTO_ONLY' && ips.length > 0) {
    throw invalid(`${field}.natIps`, ips.join(','), 'natIps must be empty when natIpAllocateOption is AUTO_ONLY.');
  }
  if (option === 'MANUAL_ONLY' && ips.length === 0) {
    throw invalid(`${field}.natIps`, '', 'natIps must not be empty when natIpAllocateOption is MANUAL_ONLY.');
  }
  const natIps = ips.map((ip, at) => linkOf('addresses', ip, `${field}.natIps[${at}]`, place, world));
  const subnetworks = objectsOf(nat['subnetworks']);
  if ((ranges === 'LIST_OF_SUBNETWORKS') !== subnetworks.length > 0) {
    throw invalid(`${field}.subnetworks`, '', 'Subnetworks are listed with LIST_OF_SUBNETWORKS, and only then.');
  }
  const listed = subnetworks.map(({ name, ...rest }, at) => ({
    ...rest,
    name: linkOf('subnetworks', textOf(name) ?? '', `${field}.subnetworks[${at}].name`, place, world),
  }));
  // An unpublished field of the request. Google takes it and never shows it.
  const { initialNatIps: _initial, ...given } = nat;
  const filled: JsonObject = {
    enableEndpointIndependentMapping: false,
    endpointTypes: ['ENDPOINT_TYPE_VM'],
    type: 'PUBLIC',
    autoNetworkTier: 'PREMIUM',
    ...given,
    natIps,
    subnetworks: listed,
  };
  const lists = Object.entries(filled).filter(([, value]) => !Array.isArray(value) || value.length > 0);
  return Object.fromEntries(lists);
}

/** The link of a resource that a NAT names. It must exist. */
function linkOf(
  kind: 'addresses' | 'subnetworks',
  reference: string,
  field: string,
  place: Place,
  world: World,
): string {
  const path = pathOf(reference, field, place, world);
  if (held(world, collections[kind])[path] === undefined) throw notFound(path);
  return link(path);
}

/** Marks the addresses of a router's NATs as its own, and frees those it has no more. */
function useNatAddresses(path: string, before: JsonObject, after: JsonObject, world: World): void {
  const addresses = held(world, collections.addresses);
  const namesOf = (router: JsonObject) =>
    objectsOf(router['nats']).flatMap((nat) => [...textsOf(nat['natIps']), ...textsOf(nat['drainNatIps'])].map(unlink));
  const [old, now] = [namesOf(before), namesOf(after)];
  for (const name of now) {
    const user = textsOf(addresses[name]?.resource['users']).find((one) => one !== link(path));
    if (user !== undefined) throw inUse('address', name, unlink(user));
  }
  for (const name of new Set([...old, ...now])) {
    const found = addresses[name];
    if (found !== undefined) useAddress(found, path, now.includes(name));
  }
}

const status: Handler = (call, world) => {
  const { found } = find(call, world, routers);
  const natStatus = objectsOf(found.resource['nats']).map((nat) => ({
    name: textOf(nat['name']) ?? '',
    minExtraNatIpsNeeded: 0,
    numVmEndpointsWithNatMappings: 0,
  }));
  return {
    kind: 'compute#routerStatusResponse',
    result: { network: found.resource['network'] ?? '', ...(natStatus.length === 0 ? {} : { natStatus }) },
  };
};

const served = defineCollection({
  of: routers,
  scope: 'region',
  quota: 'ROUTERS',
  make,
  changes: {
    patch: (at, body, world) => changed(at, { ...at.found.resource, ...changeable(body) }, world),
  },
  deleted: (path, { resource }, world) => useNatAddresses(path, resource, {}, world),
});

export const servedRouters: Served = {
  handlers: { ...served.handlers, 'compute.routers.getRouterStatus': status },
  effects: served.effects,
};
