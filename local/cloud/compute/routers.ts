/** Compute's routers with their NATs. Joined in compute.ts. */
import { type Effect, GoogleError, type Handler, type JsonObject, type World } from '../kernel/api.js';
import { objectOf, objectsOf, textOf, textsOf } from '../kernel/json-fields.js';
import { networkOf } from './networks.js';
import { begin, beginDelete, ending, once } from './operations.js';
import { checkQuota } from './quotas.js';
import {
  aggregatedReply,
  checkName,
  collections,
  find,
  findReady,
  freshPath,
  type Held,
  held,
  invalid,
  link,
  listReply,
  notFound,
  type Place,
  pathOf,
  placeOf,
  required,
  serverFields,
} from './resources.js';

const { routers } = collections;

const insert: Handler = (call, world) => {
  const place = placeOf(call, world);
  const path = freshPath(call.body, place, world, routers);
  checkQuota(world, place, 'ROUTERS');
  const reference = textOf(call.body['network']);
  if (reference === undefined || reference === '') throw required('resource.network');
  const network = networkOf(reference, 'resource.network', place, world);
  const made: Held = {
    phase: 'making',
    resource: {
      ...routerOf(call.body, place, world),
      ...serverFields(path, routers, world),
      network: link(network.path),
      region: link(`projects/${place.project.projectId}/${place.scope}`),
    },
  };
  held(world, routers)[path] = made;
  return begin(call, world, place, {
    type: 'insert',
    target: path,
    targetId: String(made.resource['id']),
    seconds: 10,
    effect: 'compute.routers.inserted',
  });
};

const change =
  (type: 'patch' | 'update'): Handler =>
  (call, world) => {
    const { path, found, place } = findReady(call, world, routers);
    const { kind, id, creationTimestamp, selfLink, name, network, region } = found.resource;
    const server = { kind, id, creationTimestamp, selfLink, name, network, region } as JsonObject;
    const { network: _network, name: _name, ...given } = call.body;
    const wanted = type === 'patch' ? { ...found.resource, ...given } : given;
    found.resource = { ...routerOf(wanted, place, world), ...server };
    return begin(call, world, place, { type, target: path, targetId: String(id), seconds: 10, effect: 'compute.done' });
  };

function routerOf(body: JsonObject, place: Place, world: World): JsonObject {
  const { nats, ...rest } = body;
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
  const isPrivate = nat['type'] === 'PRIVATE';
  const option = textOf(nat['natIpAllocateOption']);
  if (option === undefined && !isPrivate) throw required(`${field}.natIpAllocateOption`);
  const ips = textsOf(nat['natIps']);
  if (option === 'AUTO_ONLY' && ips.length > 0) {
    throw invalid(`${field}.natIps`, ips.join(','), 'natIps must be empty when natIpAllocateOption is AUTO_ONLY.');
  }
  if (option === 'MANUAL_ONLY' && ips.length === 0) {
    throw invalid(`${field}.natIps`, '', 'natIps must not be empty when natIpAllocateOption is MANUAL_ONLY.');
  }
  for (const [index, ip] of ips.entries())
    existing(collections.addresses, ip, `${field}.natIps[${index}]`, place, world);
  const subnetworks = objectsOf(nat['subnetworks']);
  if ((ranges === 'LIST_OF_SUBNETWORKS') !== subnetworks.length > 0) {
    throw invalid(`${field}.subnetworks`, '', 'Subnetworks are listed with LIST_OF_SUBNETWORKS, and only then.');
  }
  for (const [index, one] of subnetworks.entries()) {
    existing(collections.subnetworks, textOf(one['name']) ?? '', `${field}.subnetworks[${index}].name`, place, world);
  }
  return {
    enableEndpointIndependentMapping: false,
    endpointTypes: ['ENDPOINT_TYPE_VM'],
    type: 'PUBLIC',
    ...(isPrivate ? {} : { autoNetworkTier: 'PREMIUM' }),
    ...nat,
  };
}

function existing(
  kind: (typeof collections)['addresses' | 'subnetworks'],
  reference: string,
  field: string,
  place: Place,
  world: World,
) {
  const path = pathOf(reference, field, place, world);
  if (held(world, kind)[path] === undefined) throw notFound(path);
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

const remove: Handler = (call, world) => {
  const at = findReady(call, world, routers);
  const { path, found } = at;
  if (objectsOf(found.resource['interfaces']).length > 0) {
    throw new GoogleError(400, 'FAILED_PRECONDITION', `The router resource '${path}' still has interfaces`, {
      reason: 'resourceInUseByAnotherResource',
    });
  }
  return beginDelete(call, world, at, routers);
};

export const routerHandlers: Record<string, Handler> = {
  'compute.routers.insert': once(insert),
  'compute.routers.patch': once(change('patch')),
  'compute.routers.update': once(change('update')),
  'compute.routers.delete': once(remove),
  'compute.routers.get': (call, world) => find(call, world, routers).found.resource,
  'compute.routers.list': (call, world) => listReply(call, world, routers),
  'compute.routers.aggregatedList': (call, world) => aggregatedReply(call, world, routers, 'region'),
  'compute.routers.getRouterStatus': status,
};

export const routerEffects: Record<string, Effect> = {
  'compute.routers.inserted': ending((path, _args, world) => {
    const router = held(world, routers)[path];
    if (router !== undefined) router.phase = 'ready';
    return undefined;
  }),
  'compute.routers.deleted': ending((path, _args, world) => {
    delete held(world, routers)[path];
    return undefined;
  }),
};
