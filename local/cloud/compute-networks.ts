/** Compute's networks and subnetworks, and the network `default` that comes with the API. Joined in compute.ts. */
import {
  type CloudCall,
  type Effect,
  GoogleError,
  type Handler,
  type JsonObject,
  type ProjectRecord,
  type World,
} from './api.js';
import { begin, ending, failureOf, once } from './compute-operations.js';
import { autoRange, regions } from './compute-places.js';
import { checkQuota } from './compute-quotas.js';
import {
  aggregatedReply,
  collections,
  computeService,
  find,
  findReady,
  fingerprint,
  freshPath,
  type Held,
  held,
  inUse,
  inUseText,
  invalid,
  lastOf,
  link,
  listOf,
  listReply,
  notFound,
  notReady,
  type Place,
  pathOf,
  placeOf,
  required,
  serverFields,
  unlink,
} from './compute-resources.js';
import { formatIp, overlap, parseRange } from './ip-ranges.js';
import { flagOf, numberOf, objectOf, textOf } from './json-fields.js';

const { networks, subnetworks } = collections;

/** The network a body refers to, ready to be used. */
export function networkOf(reference: string, field: string, place: Place, world: World): { path: string; found: Held } {
  const path = pathOf(reference, field, place, world);
  const found = held(world, networks)[path];
  if (found === undefined) throw notFound(path);
  if (found.phase !== 'ready') throw notReady(path);
  return { path, found };
}

// --- networks -------------------------------------------------------------------------------------------------------

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

function makeNetwork(path: string, body: JsonObject, world: World): Held {
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
  return { ...resource, subnetworks: regions.map((region) => link(autoPath(path, region))) };
}

const autoPath = (network: string, region: string): string =>
  `projects/${network.split('/')[1]}/regions/${region}/subnetworks/${lastOf(network)}`;

/**
 * Writes down the subnetworks of a project's networks of auto mode. Only once somebody asks: hardly anybody does, and
 * every new project would bring forty of them.
 */
export function ensureAutoSubnetworks(world: World, projectId: string): void {
  for (const [path, { resource, phase }] of Object.entries(held(world, networks))) {
    if (!path.startsWith(`projects/${projectId}/`) || resource['autoCreateSubnetworks'] !== true || phase === 'making')
      continue;
    for (const region of regions) {
      const at = autoPath(path, region);
      held(world, subnetworks)[at] ??= {
        phase: 'ready',
        resource: subnetworkResource(at, { network: link(path), ipCidrRange: autoRange(region) }, region, world),
      };
    }
  }
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
  const { path, found, place } = findReady(call, world, networks);
  found.phase = 'leaving';
  return begin(call, world, place, {
    type: 'delete',
    target: path,
    targetId: String(found.resource['id']),
    seconds: 10,
    effect: 'compute.networks.deleted',
  });
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
      const used = [resource['network'], ...interfacesOf(resource).map((one) => one['network'])];
      if (used.some((one) => unlink(String(one)) === path)) return at;
    }
  }
  return undefined;
}

const interfacesOf = (resource: JsonObject): JsonObject[] =>
  Array.isArray(resource['networkInterfaces']) ? (resource['networkInterfaces'] as JsonObject[]) : [];

const effectiveFirewalls: Handler = (call, world) => {
  const { path } = find(call, world, networks);
  const firewalls = Object.values(held(world, collections.firewalls))
    .map(({ resource }) => resource)
    .filter((resource) => unlink(String(resource['network'])) === path);
  return firewalls.length === 0 ? {} : { firewalls };
};

// --- subnetworks ----------------------------------------------------------------------------------------------------

const insertSubnetwork: Handler = (call, world) => {
  const place = placeOf(call, world);
  const path = freshPath(call.body, place, world, subnetworks);
  checkQuota(world, place, 'SUBNETWORKS');
  const reference = textOf(call.body['network']);
  if (reference === undefined || reference === '') throw required('resource.network');
  const network = networkOf(reference, 'resource.network', place, world);
  if (network.found.resource['autoCreateSubnetworks'] === true) {
    throw invalid(
      'resource.network',
      reference,
      'Cannot create a subnetwork of its own name in an auto subnet mode network.',
    );
  }
  const text = textOf(call.body['ipCidrRange']) ?? '';
  const range = parseRange(text);
  if (range === undefined || range.prefix < 4 || range.prefix > 29) {
    throw invalid(
      'resource.ipCidrRange',
      text,
      'Must be a CIDR address range that begins with its first address, from /4 to /29.',
    );
  }
  for (const [at, { resource }] of Object.entries(held(world, subnetworks))) {
    const other = parseRange(String(resource['ipCidrRange']));
    if (unlink(String(resource['network'])) === network.path && other !== undefined && overlap(range, other)) {
      throw new GoogleError(
        400,
        'INVALID_ARGUMENT',
        `Invalid IPCidrRange: ${text} conflicts with existing subnetwork '${lastOf(at)}' in region '${at.split('/')[3]}'.`,
        { reason: 'invalid' },
      );
    }
  }
  const region = place.region ?? '';
  const made: Held = {
    phase: 'making',
    resource: subnetworkResource(path, { ...call.body, network: link(network.path) }, region, world),
  };
  held(world, subnetworks)[path] = made;
  return begin(call, world, place, {
    type: 'insert',
    target: path,
    targetId: String(made.resource['id']),
    seconds: 10,
    effect: 'compute.subnetworks.inserted',
  });
};

function subnetworkResource(path: string, body: JsonObject, region: string, world: World): JsonObject {
  const range = parseRange(String(body['ipCidrRange']));
  const project = path.split('/')[1];
  return {
    ...body,
    ...serverFields(path, subnetworks, world),
    name: lastOf(path),
    region: link(`projects/${project}/regions/${region}`),
    gatewayAddress: formatIp((range?.first ?? 0) + 1),
    privateIpGoogleAccess: flagOf(body['privateIpGoogleAccess']) ?? false,
    privateIpv6GoogleAccess: body['privateIpv6GoogleAccess'] ?? 'DISABLE_GOOGLE_ACCESS',
    purpose: body['purpose'] ?? 'PRIVATE',
    stackType: body['stackType'] ?? 'IPV4_ONLY',
    fingerprint: fingerprint(body),
  };
}

function subnetworkInserted(path: string, _args: JsonObject, world: World): undefined {
  const subnetwork = held(world, subnetworks)[path];
  if (subnetwork === undefined) return;
  subnetwork.phase = 'ready';
  refreshSubnetworks(world, unlink(String(subnetwork.resource['network'])));
}

const deleteSubnetwork: Handler = (call, world) => {
  const { path, found, place } = findReady(call, world, subnetworks);
  const kinds = [collections.instances, collections.addresses];
  for (const kind of kinds) {
    for (const [at, { resource }] of Object.entries(held(world, kind))) {
      const used = [resource['subnetwork'], ...interfacesOf(resource).map((one) => one['subnetwork'])];
      if (used.some((one) => unlink(String(one)) === path)) throw inUse('subnetwork', path, at);
    }
  }
  const network = held(world, networks)[unlink(String(found.resource['network']))];
  if (network?.resource['autoCreateSubnetworks'] === true) {
    throw invalid('subnetwork', lastOf(path), 'Cannot delete auto subnetwork from an auto subnet mode network.');
  }
  found.phase = 'leaving';
  return begin(call, world, place, {
    type: 'delete',
    target: path,
    targetId: String(found.resource['id']),
    seconds: 10,
    effect: 'compute.subnetworks.deleted',
  });
};

function subnetworkDeleted(path: string, _args: JsonObject, world: World): undefined {
  const network = unlink(String(held(world, subnetworks)[path]?.resource['network']));
  delete held(world, subnetworks)[path];
  refreshSubnetworks(world, network);
}

/** A network lists its subnetworks. */
function refreshSubnetworks(world: World, path: string): void {
  const network = held(world, networks)[path];
  if (network === undefined || network.resource['autoCreateSubnetworks'] === true) return;
  const mine = Object.entries(held(world, subnetworks))
    .filter(([, { resource, phase }]) => phase !== 'making' && unlink(String(resource['network'])) === path)
    .map(([at]) => link(at));
  const { subnetworks: _old, ...rest } = network.resource;
  network.resource = mine.length === 0 ? rest : { ...rest, subnetworks: mine };
}

// --- the default network --------------------------------------------------------------------------------------------

const defaultRules: readonly { name: string; rule: JsonObject }[] = [
  { name: 'icmp', rule: { sourceRanges: ['0.0.0.0/0'], allowed: [{ IPProtocol: 'icmp' }] } },
  {
    name: 'internal',
    rule: {
      sourceRanges: ['10.128.0.0/9'],
      allowed: [
        { IPProtocol: 'tcp', ports: ['0-65535'] },
        { IPProtocol: 'udp', ports: ['0-65535'] },
        { IPProtocol: 'icmp' },
      ],
    },
  },
  { name: 'rdp', rule: { sourceRanges: ['0.0.0.0/0'], allowed: [{ IPProtocol: 'tcp', ports: ['3389'] }] } },
  { name: 'ssh', rule: { sourceRanges: ['0.0.0.0/0'], allowed: [{ IPProtocol: 'tcp', ports: ['22'] }] } },
];

/** Enabling compute brings a network `default` with its rules, some seconds later. Called before every compute method. */
export function ensureDefaultNetwork(project: ProjectRecord, world: World): void {
  const seen = world.table<boolean>('compute.projects');
  if (project.services[computeService] === undefined || seen[project.projectId]) return;
  seen[project.projectId] = true;
  world.schedule(10, 'compute.networks.default', { project: project.projectId });
}

function makeDefaultNetwork(args: JsonObject, world: World): void {
  const project = textOf(args['project']) ?? '';
  const path = `projects/${project}/global/networks/default`;
  if (held(world, networks)[path] !== undefined) return;
  makeNetwork(
    path,
    { name: 'default', description: 'Default network for the project', autoCreateSubnetworks: true },
    world,
  );
  networkInserted(path, {}, world);
  for (const { name, rule } of defaultRules) {
    const at = `projects/${project}/global/firewalls/default-allow-${name}`;
    held(world, collections.firewalls)[at] = {
      phase: 'ready',
      resource: {
        ...serverFields(at, collections.firewalls, world),
        ...rule,
        name: lastOf(at),
        network: link(path),
        priority: 65534,
        direction: 'INGRESS',
        disabled: false,
        logConfig: { enable: false },
      },
    };
  }
}

/** With the subnetworks of auto mode written down first, where they might be meant. */
function withAuto(handler: Handler, when: (call: CloudCall, world: World) => boolean = () => true): Handler {
  return (call, world) => {
    if (when(call, world)) ensureAutoSubnetworks(world, placeOf(call, world).project.projectId);
    return handler(call, world);
  };
}

/** An auto subnetwork has the name of its network. */
function isDefault(call: CloudCall, world: World): boolean {
  const { projectId } = placeOf(call, world).project;
  return held(world, networks)[`projects/${projectId}/global/networks/${call.params['subnetwork']}`] !== undefined;
}

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
  'compute.subnetworks.insert': once(insertSubnetwork),
  'compute.subnetworks.delete': withAuto(once(deleteSubnetwork), isDefault),
  'compute.subnetworks.get': withAuto((call, world) => find(call, world, subnetworks).found.resource, isDefault),
  'compute.subnetworks.list': withAuto((call, world) => listReply(call, world, subnetworks)),
  'compute.subnetworks.aggregatedList': withAuto((call, world) => aggregatedReply(call, world, subnetworks, 'region')),
};

export const networkEffects: Record<string, Effect> = {
  'compute.done': ending(() => undefined),
  'compute.networks.default': makeDefaultNetwork,
  'compute.networks.inserted': ending(networkInserted),
  'compute.networks.deleted': ending(networkDeleted),
  'compute.subnetworks.inserted': ending(subnetworkInserted),
  'compute.subnetworks.deleted': ending(subnetworkDeleted),
};
