/** Compute's subnetworks, those of auto mode among them. Joined in compute.ts. */
import { type CloudCall, type Effect, GoogleError, type Handler, type JsonObject, type World } from '../kernel/api.js';
import { flagOf, objectsOf, textOf } from '../kernel/json-fields.js';
import { formatIp, overlap, parseRange } from './ip-ranges.js';
import { networkOf } from './networks.js';
import { begin, beginDelete, ending, once } from './operations.js';
import { autoRange, regions } from './places.js';
import { checkQuota } from './quotas.js';
import {
  aggregatedReply,
  collections,
  find,
  findReady,
  fingerprint,
  freshPath,
  type Held,
  held,
  inUse,
  invalid,
  lastOf,
  link,
  listReply,
  placeOf,
  required,
  serverFields,
  unlink,
} from './resources.js';

const { networks, subnetworks } = collections;

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
  const at = findReady(call, world, subnetworks);
  const { path, found } = at;
  const kinds = [collections.instances, collections.addresses];
  for (const kind of kinds) {
    for (const [at, { resource }] of Object.entries(held(world, kind))) {
      const used = [
        resource['subnetwork'],
        ...objectsOf(resource['networkInterfaces']).map((one) => one['subnetwork']),
      ];
      if (used.some((one) => unlink(String(one)) === path)) throw inUse('subnetwork', path, at);
    }
  }
  const network = held(world, networks)[unlink(String(found.resource['network']))];
  if (network?.resource['autoCreateSubnetworks'] === true) {
    throw invalid('subnetwork', lastOf(path), 'Cannot delete auto subnetwork from an auto subnet mode network.');
  }
  return beginDelete(call, world, at, subnetworks);
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

// --- auto mode --------------------------------------------------------------------------------------------------------

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

export const subnetworkHandlers: Record<string, Handler> = {
  'compute.subnetworks.insert': once(insertSubnetwork),
  'compute.subnetworks.delete': withAuto(once(deleteSubnetwork), isDefault),
  'compute.subnetworks.get': withAuto((call, world) => find(call, world, subnetworks).found.resource, isDefault),
  'compute.subnetworks.list': withAuto((call, world) => listReply(call, world, subnetworks)),
  'compute.subnetworks.aggregatedList': withAuto((call, world) => aggregatedReply(call, world, subnetworks, 'region')),
};

export const subnetworkEffects: Record<string, Effect> = {
  'compute.subnetworks.inserted': ending(subnetworkInserted),
  'compute.subnetworks.deleted': ending(subnetworkDeleted),
};
