/** Compute's static addresses of regions, and new addresses for VMs. */
import { GoogleError, type JsonObject, type World } from '../kernel/api.js';
import { objectsOf, textOf, textsOf } from '../kernel/json-fields.js';
import { defineCollection, type Found, relabelled, type Wanted } from './collection.js';
import { contains, formatIp, freeIp, parseIp, parseRange } from './ip-ranges.js';
import { checkQuota } from './quotas.js';
import {
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
  const table = held(world, addresses);
  for (const path in table) if (table[path]?.resource['address'] === ip) return true;
  return externalUsers(world, ip).length > 0;
}

/** The VMs and forwarding rules that use an external address. */
function externalUsers(world: World, ip: string): string[] {
  const users: string[] = [];
  for (const kind of [collections.instances, collections.forwardingRules]) {
    const table = held(world, kind);
    for (const path in table) if (uses(table[path]?.resource ?? {}, ip)) users.push(path);
  }
  return users;
}

const uses = ({ IPAddress, networkInterfaces }: JsonObject, ip: string): boolean =>
  IPAddress === ip ||
  objectsOf(networkInterfaces).some(({ accessConfigs }) => objectsOf(accessConfigs).some(({ natIP }) => natIP === ip));

/** Those in a region of a project, of which one may keep its ephemeral address by reserving it. */
const ephemeralUsers = (world: World, ip: string, region: string): string[] =>
  externalUsers(world, ip).filter(
    (path) => path.startsWith(`${region}/`) || path.startsWith(`${region.replace('/regions/', '/zones/')}-`),
  );

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
  const from = type === 'INTERNAL' ? internalAddress : externalAddress;
  return {
    ...call.body,
    ...from(call.body, place, world),
    ...serverFields(path, addresses, world),
    description: textOf(call.body['description']) ?? '',
    status: 'RESERVING',
    addressType: type,
    labelFingerprint: fingerprint(labels),
    region: link(`projects/${place.project.projectId}/${place.scope}`),
  };
}

function externalAddress(body: JsonObject, { prefix }: Place, world: World): JsonObject {
  const wanted = textOf(body['address']);
  if (wanted !== undefined && ephemeralUsers(world, wanted, prefix).length === 0) {
    const why = 'Specified IP address is not an in-use ephemeral address of this project.';
    throw invalid('resource.address', wanted, why);
  }
  return { networkTier: textOf(body['networkTier']) ?? 'PREMIUM' };
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

export const servedAddresses = defineCollection({
  of: addresses,
  scope: 'region',
  make,
  changes: { setLabels: relabelled },
  /** An external address is chosen only now. One that was ephemeral keeps its users. */
  made(found, world) {
    const { resource } = found;
    resource['address'] ??= freshExternalIp(world);
    resource['status'] = 'RESERVED';
    if (resource['addressType'] !== 'EXTERNAL') return;
    const users = ephemeralUsers(world, String(resource['address']), unlink(String(resource['region'])));
    for (const user of users) useAddress(found, user, true);
  },
  beforeDelete: checkUser,
});
