/** Compute's static addresses, regional and global, and new addresses for VMs. */
import { GoogleError, type JsonObject, type World } from '../kernel/api.js';
import { objectsOf, textOf, textsOf } from '../kernel/json-fields.js';
import { lookUpProject } from '../kernel/projects.js';
import { defineCollection, type Found, relabelled, type Wanted } from './collection.js';
import { contains, formatIp, freeIp, parseIp, parseRange } from './ip-ranges.js';
import { checkQuota } from './quotas.js';
import {
  type Collection,
  checkLabels,
  collections,
  fingerprint,
  type Held,
  held,
  heldIn,
  inUse,
  invalid,
  link,
  type Place,
  pathOf,
  readyAt,
  required,
  serverFields,
  unlink,
} from './resources.js';

const { addresses } = collections;

/** A public address that nothing in the simulated cloud uses. */
export function freshExternalIp(world: World): string {
  for (;;) {
    const text = formatIp(
      34 * 2 ** 24 + (64 + Math.floor(world.random() * 128)) * 2 ** 16 + Math.floor(world.random() * 65534) + 1,
    );
    if (!isExternalIpTaken(world, text)) return text;
  }
}

function isExternalIpTaken(world: World, ip: string): boolean {
  const has = (collection: Collection, one: (resource: JsonObject) => boolean): boolean => {
    const table = held(world, collection);
    for (const path in table) if (one(table[path]?.resource ?? {})) return true;
    return false;
  };
  return (
    has(addresses, ({ address }) => address === ip) ||
    has(collections.forwardingRules, ({ IPAddress }) => IPAddress === ip) ||
    has(collections.instances, ({ networkInterfaces }) =>
      objectsOf(networkInterfaces).some(({ accessConfigs }) =>
        objectsOf(accessConfigs).some(({ natIP }) => natIP === ip),
      ),
    )
  );
}

/** Internal addresses in use in a subnet. */
export function takenIn(world: World, subnetwork: string): Set<string> {
  const taken = new Set<string>();
  const project = subnetwork.split('/')[1] ?? '';
  for (const [, { resource }] of heldIn(world, addresses, project)) {
    if (unlink(String(resource['subnetwork'])) === subnetwork) taken.add(String(resource['address']));
  }
  for (const [, { resource }] of heldIn(world, collections.instances, project)) {
    for (const nic of objectsOf(resource['networkInterfaces'])) {
      if (unlink(String(nic['subnetwork'])) === subnetwork) taken.add(String(nic['networkIP']));
    }
  }
  for (const [, { resource }] of heldIn(world, collections.forwardingRules, project)) {
    if (unlink(String(resource['subnetwork'])) === subnetwork) taken.add(String(resource['IPAddress']));
  }
  return taken;
}

/** The reserved external address that a VM or a NAT asks for. Undefined if it is not reserved. */
export function reservedIn(world: World, place: Place, ip: string): { path: string; found: Held } | undefined {
  const root = `projects/${place.project.projectId}/regions/${place.region}/addresses/`;
  for (const [path, found] of heldIn(world, addresses, place.project.projectId)) {
    if (path.startsWith(root) && found.resource['address'] === ip) return { path, found };
  }
  return undefined;
}

/** Marks the reserved addresses among `ips` as used, or as free again. */
export function useAddresses(world: World, place: Place, ips: readonly string[], user: string, taken: boolean): void {
  for (const ip of ips) {
    const reserved = reservedIn(world, place, ip);
    if (reserved !== undefined) useAddress(reserved.found, user, taken);
  }
}

/** Marks one reserved address as used, or as free again. */
export function useAddress(found: Held, user: string, taken: boolean): void {
  const { users: before, ...rest } = found.resource;
  const others = textsOf(before).filter((one) => one !== link(user));
  const users = taken ? [...others, link(user)] : others;
  found.resource = {
    ...rest,
    status: users.length > 0 ? 'IN_USE' : 'RESERVED',
    ...(users.length > 0 ? { users } : {}),
  };
}

function make({ call, path, place }: Wanted, world: World): JsonObject {
  const type = textOf(call.body['addressType']) ?? 'EXTERNAL';
  if (type === 'EXTERNAL') checkQuota(world, place, 'STATIC_ADDRESSES');
  const labels = checkLabels(call.body['labels']);
  const where =
    type === 'INTERNAL' ? internalAddress(call.body, place, world) : externalAddress(call.body, place, world);
  return {
    ...call.body,
    ...where,
    ...serverFields(path, addresses, world),
    description: textOf(call.body['description']) ?? '',
    status: 'RESERVING',
    addressType: type,
    labelFingerprint: fingerprint(labels),
    ...(place.region === undefined
      ? {}
      : { region: link(`projects/${place.project.projectId}/regions/${place.region}`) }),
  };
}

function externalAddress(body: JsonObject, place: Place, world: World): JsonObject {
  const wanted = textOf(body['address']);
  if (wanted === undefined) return { networkTier: textOf(body['networkTier']) ?? 'PREMIUM' };
  if (ephemeralUsers(world, place, wanted).length === 0) {
    throw invalid(
      'resource.address',
      wanted,
      'Specified IP address is not an in-use ephemeral address of this project.',
    );
  }
  return { networkTier: 'PREMIUM' };
}

/** The VMs and forwarding rules of a place's region that use an address. */
function ephemeralUsers(world: World, { project, region = '' }: Place, ip: string): string[] {
  const vms = heldIn(world, collections.instances, project.projectId).filter(
    ([path, { resource }]) =>
      path.split('/')[3]?.startsWith(`${region}-`) === true &&
      objectsOf(resource['networkInterfaces']).some((nic) =>
        objectsOf(nic['accessConfigs']).some((access) => access['natIP'] === ip),
      ),
  );
  const rules = heldIn(world, collections.forwardingRules, project.projectId).filter(
    ([path, { resource }]) => path.split('/')[3] === region && resource['IPAddress'] === ip,
  );
  return [...vms, ...rules].map(([path]) => path);
}

function internalAddress(body: JsonObject, place: Place, world: World): JsonObject {
  const reference = textOf(body['subnetwork']);
  if (reference === undefined) throw required('resource.subnetwork');
  const path = pathOf(reference, 'resource.subnetwork', place, world);
  const subnetwork = readyAt(path, collections.subnetworks, world);
  const range = parseRange(String(subnetwork.resource['ipCidrRange']));
  const taken = takenIn(world, path);
  const wanted = textOf(body['address']);
  const ip = wanted ?? (range === undefined ? undefined : freeIp(range, taken));
  const value = parseIp(ip ?? '');
  if (ip === undefined || value === undefined || range === undefined || !contains(range, value)) {
    throw invalid('resource.address', wanted ?? '', 'IP address is outside the range of the subnetwork.');
  }
  if (taken.has(ip)) {
    throw new GoogleError(400, 'FAILED_PRECONDITION', `IP address '${ip}' is already being used by another resource.`, {
      reason: 'resourceInUseByAnotherResource',
    });
  }
  return { address: ip, networkTier: 'PREMIUM', subnetwork: link(path), purpose: body['purpose'] ?? 'GCE_ENDPOINT' };
}

function checkUser({ path, found }: Found): void {
  const [user] = textsOf(found.resource['users']);
  if (user !== undefined) throw inUse('address', path, unlink(user));
}

function usersOf({ selfLink, address, addressType }: JsonObject, world: World): string[] {
  const [, projectId = '', , region] = unlink(String(selfLink)).split('/');
  const project = lookUpProject(world, projectId);
  if (project === undefined || addressType !== 'EXTERNAL') return [];
  return ephemeralUsers(world, { project, scope: '', prefix: '', region, zone: undefined }, String(address));
}

export const servedAddresses = defineCollection({
  of: addresses,
  methodNames: ['addresses', 'globalAddresses'],
  scope: 'region',
  make,
  changes: { setLabels: relabelled },
  /** The address is chosen only now. One that was ephemeral keeps its users. */
  made(found, world) {
    const { resource } = found;
    resource['address'] ??= freshExternalIp(world);
    resource['status'] = 'RESERVED';
    for (const user of usersOf(resource, world)) useAddress(found, user, true);
  },
  beforeDelete: checkUser,
});
