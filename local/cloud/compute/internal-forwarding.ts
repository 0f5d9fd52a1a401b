/** Internal forwarding rules: an address of a subnet. */
import type { JsonObject, World } from '../kernel/api.js';
import { notSimulated } from '../kernel/errors.js';
import { textOf, textsOf } from '../kernel/json-fields.js';
import { reservedIn, takenIn } from './addresses.js';
import type { Wanted } from './collection.js';
import { contains, freeIp, parseIp, parseRange } from './ip-ranges.js';
import {
  checkLabels,
  collections,
  fingerprint,
  type Held,
  held,
  inUse,
  invalid,
  link,
  notFound,
  type Place,
  pathOf,
  referred,
  required,
  serverFields,
  unlink,
} from './resources.js';

const { addresses, forwardingRules, subnetworks } = collections;

export function internalRule({ call: { body }, path, place }: Wanted, world: World): JsonObject {
  for (const field of ['target', 'portRange']) {
    const given = textOf(body[field]) ?? '';
    if (given !== '') throw invalid(`resource.${field}`, given, 'The field does not fit the scheme INTERNAL.');
  }
  const service = unservedIn(body, 'backendService', 'backendServices', place, world);
  const subnetwork = referred(textOf(body['subnetwork']), 'resource.subnetwork', subnetworks, place, world);
  const labels = checkLabels(body['labels']);
  const ip = addressOf(body, subnetwork, place, world);
  return {
    ...body,
    ...serverFields(path, forwardingRules, world),
    region: link(`projects/${place.project.projectId}/${place.scope}`),
    IPAddress: ip,
    IPProtocol: textOf(body['IPProtocol']) ?? 'TCP',
    ...portsOf(body),
    description: textOf(body['description']) ?? '',
    backendService: service,
    subnetwork: link(subnetwork.path),
    network: networkOf(body, subnetwork.found, place, world),
    loadBalancingScheme: 'INTERNAL',
    networkTier: 'PREMIUM',
    labelFingerprint: fingerprint(labels),
    fingerprint: fingerprint([path, ip]),
  };
}

/**
 * The link of what a rule leads to. Google's schema demands a target pool or a backend service. No service of these is
 * simulated, so a rule may name any of its region.
 */
export function unservedIn(body: JsonObject, field: string, collection: string, place: Place, world: World): string {
  const reference = textOf(body[field]) ?? '';
  if (reference === '') throw required(`resource.${field}`);
  const path = pathOf(reference, `resource.${field}`, place, world);
  if (!path.startsWith(`${place.prefix}/${collection}/`)) throw notSimulated(`forwarding rules to ${reference}`);
  return link(path);
}

function networkOf(body: JsonObject, { resource }: Held, place: Place, world: World): string {
  const network = String(resource['network']);
  const given = textOf(body['network']) ?? '';
  if (given !== '' && pathOf(given, 'resource.network', place, world) !== unlink(network)) {
    throw invalid('resource.network', given, 'The subnetwork is in another network.');
  }
  return network;
}

/** Up to five ports, or all. */
function portsOf(body: JsonObject): JsonObject {
  const ports = textsOf(body['ports']);
  if (body['allPorts'] === true && ports.length === 0) return { allPorts: true };
  if (ports.length === 0 || ports.length > 5) {
    throw invalid('resource.ports', ports.join(), 'One to five ports must be specified, or allPorts.');
  }
  for (const port of ports) {
    const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
    if (number < 1 || number > 65535) throw invalid('resource.ports', port, 'Must be a port number.');
  }
  return { ports: [...ports] };
}

/** The address that a rule asks for: a reserved one, by its value or its URL, or any other of the subnet. */
function addressOf(body: JsonObject, subnetwork: ReturnType<typeof referred>, place: Place, world: World): string {
  const field = 'resource.IPAddress';
  const wanted = textOf(body['IPAddress']) ?? '';
  const range = parseRange(String(subnetwork.found.resource['ipCidrRange']));
  if (range === undefined) throw invalid(field, wanted, 'The subnetwork has no range.');
  const taken = takenIn(world, subnetwork.path);
  if (wanted === '') {
    const free = freeIp(range, taken);
    if (free === undefined) throw invalid(field, wanted, 'The subnetwork has no free address.');
    return free;
  }
  const isName = parseIp(wanted) === undefined;
  const path = isName ? pathOf(wanted, field, place, world) : reservedIn(world, place, wanted)?.path;
  const reserved = path === undefined ? undefined : held(world, addresses)[path];
  if (isName && reserved === undefined) throw notFound(path ?? wanted);
  const ip = reserved === undefined ? wanted : String(reserved.resource['address']);
  const value = parseIp(ip);
  if (value === undefined || !contains(range, value)) {
    throw invalid(field, wanted, 'The address must be one of the subnetwork of the forwarding rule.');
  }
  if (reserved !== undefined) {
    const user = textsOf(reserved.resource['users'])[0];
    // Rules may share an address only by a purpose that is not simulated.
    if (user !== undefined) throw inUse('address', path ?? ip, unlink(user));
  } else if (taken.has(ip)) {
    throw invalid(field, wanted, 'Specified IP address is in-use and would result in a conflict.');
  }
  return ip;
}
