/** Compute's subnetworks, including those of auto mode. */
import { type CloudCall, GoogleError, type JsonObject, type World } from '../kernel/api.js';
import { flagOf, objectsOf, textOf } from '../kernel/json-fields.js';
import { autoRange, regions } from '../kernel/places.js';
import { type Change, defineCollection, type Found, type Wanted } from './collection.js';
import { contains, formatIp, overlap, parseRange, type Range } from './ip-ranges.js';
import { networkOf } from './networks.js';
import {
  collections,
  conditionNotMet,
  fingerprint,
  type Held,
  held,
  heldIn,
  hold,
  inUse,
  invalid,
  lastOf,
  link,
  placeOf,
  required,
  sameFingerprint,
  serverFields,
  unlink,
} from './resources.js';

const { networks, subnetworks } = collections;

function make({ call, path, place }: Wanted, world: World): JsonObject {
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
    throw invalid('resource.ipCidrRange', text, malformed);
  }
  checkOverlap(world, network.path, text, range);
  return subnetworkResource(path, { ...call.body, network: link(network.path) }, place.region ?? '', world);
}

const malformed = 'Must be a CIDR address range that begins with its first address, from /4 to /29.';

/** Refuses a range that another subnetwork of the network overlaps. */
function checkOverlap(world: World, network: string, text: string, range: Range, itself?: string): void {
  for (const [at, { resource }] of Object.entries(held(world, subnetworks))) {
    if (at === itself || unlink(String(resource['network'])) !== network) continue;
    const other = parseRange(String(resource['ipCidrRange']));
    if (other !== undefined && overlap(range, other)) {
      throw new GoogleError(
        400,
        'INVALID_ARGUMENT',
        `Invalid IPCidrRange: ${text} conflicts with existing subnetwork '${lastOf(at)}' in region '${at.split('/')[3]}'.`,
        { reason: 'invalid' },
      );
    }
  }
}

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
    state: 'READY',
    fingerprint: fingerprint(body),
  };
}

// --- changes ----------------------------------------------------------------------------------------------------------

/** The fields that no patch changes. Some have methods of their own. */
const fixed = ['ipCidrRange', 'name', 'network', 'region', 'gatewayAddress'];

const patched: Change = ({ found: { resource } }, body) => {
  const { fingerprint: given, ...wanted } = body;
  if (given !== undefined && !sameFingerprint(textOf(given), resource['fingerprint'])) {
    throw conditionNotMet('Invalid fingerprint.');
  }
  for (const field of fixed) {
    const value = wanted[field];
    if (value !== undefined && unlink(String(value)) !== unlink(String(resource[field]))) {
      throw invalid(`resource.${field}`, String(value), 'The field cannot be changed by a patch.');
    }
    delete wanted[field];
  }
  for (const [index, { ipCidrRange }] of objectsOf(wanted['secondaryIpRanges']).entries()) {
    if (parseRange(String(ipCidrRange)) === undefined) {
      throw invalid(`resource.secondaryIpRanges[${index}].ipCidrRange`, String(ipCidrRange), malformed);
    }
  }
  return stamped({ ...resource, ...wanted });
};

const expanded: Change = ({ path, found: { resource } }, body, world) => {
  const text = textOf(body['ipCidrRange']) ?? '';
  const [range, stands] = [parseRange(text), parseRange(String(resource['ipCidrRange']))];
  if (range === undefined || stands === undefined) throw invalid('ipCidrRange', text, malformed);
  if (range.prefix >= stands.prefix || !contains(range, stands.first) || !contains(range, stands.last)) {
    throw invalid('ipCidrRange', text, `New range must contain the existing range '${resource['ipCidrRange']}'.`);
  }
  checkOverlap(world, unlink(String(resource['network'])), text, range, path);
  return stamped({ ...resource, ipCidrRange: text, gatewayAddress: formatIp(range.first + 1) });
};

const openedToGoogle: Change = ({ found: { resource } }, body) =>
  stamped({ ...resource, privateIpGoogleAccess: flagOf(body['privateIpGoogleAccess']) ?? false });

/** Each change gives a new fingerprint. */
function stamped({ fingerprint: _old, ...resource }: JsonObject): JsonObject {
  return { ...resource, fingerprint: fingerprint(resource) };
}

const listInItsNetwork = ({ resource }: Held, world: World): void =>
  refreshSubnetworks(world, unlink(String(resource['network'])));

function checkUsers({ path, found }: Found, world: World): void {
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
}

/** Brings the list of subnetworks that a network shows up to date. */
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
 * Stores the subnetworks of a project's networks of auto mode. It waits until a caller needs them: few do, and every new
 * project would bring forty of them.
 */
export function ensureAutoSubnetworks(world: World, projectId: string): void {
  for (const [path, { resource, phase }] of heldIn(world, networks, projectId)) {
    if (resource['autoCreateSubnetworks'] !== true || phase === 'making') continue;
    for (const region of regions) {
      const at = autoPath(path, region);
      if (held(world, subnetworks)[at] !== undefined) continue;
      const wanted = { network: link(path), ipCidrRange: autoRange(region) };
      hold(world, subnetworks, at, { phase: 'ready', resource: subnetworkResource(at, wanted, region, world) });
    }
  }
}

/** Stores them when the call might mean one of them. Such a subnetwork has the name of its network. */
function ensureMeant(call: CloudCall, world: World): void {
  const { projectId } = placeOf(call, world).project;
  const name = call.params['subnetwork'];
  const network = `projects/${projectId}/global/networks/${name}`;
  if (name === undefined || held(world, networks)[network] !== undefined) ensureAutoSubnetworks(world, projectId);
}

export const servedSubnetworks = defineCollection({
  of: subnetworks,
  scope: 'region',
  quota: 'SUBNETWORKS',
  make,
  changes: { patch: patched, expandIpCidrRange: expanded, setPrivateIpGoogleAccess: openedToGoogle },
  made: listInItsNetwork,
  beforeDelete: checkUsers,
  deleted: (_path, found, world) => listInItsNetwork(found, world),
  beforeLook: ensureMeant,
});
