/** Internal forwarding rules: an address of a subnet, and the backend service that its traffic goes to. */
import type { JsonObject, World } from '../kernel/api.js';
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
  serverFields,
  unlink,
} from './resources.js';

const { addresses, backendServices, forwardingRules, subnetworks } = collections;

export function internalRule({ call: { body }, path, place }: Wanted, world: World): JsonObject {
  for (const field of ['target', 'portRange']) {
    const given = textOf(body[field]) ?? '';
    if (given !== '') throw invalid(`resource.${field}`, given, 'The field does not fit the scheme INTERNAL.');
  }
  const service = referred(textOf(body['backendService']), 'resource.backendService', backendServices, place, world);
  const subnetwork = referred(textOf(body['subnetwork']), 'resource.subnetwork', subnetworks, place, world);
  if (service.found.resource['loadBalancingScheme'] !== 'INTERNAL') {
    throw invalid('resource.backendService', service.path, 'The load balancing scheme must be that of the rule.');
  }
  const protocol = textOf(body['IPProtocol']) ?? 'TCP';
  if (protocol !== service.found.resource['protocol']) {
    throw invalid('resource.IPProtocol', protocol, 'The protocol must be that of the backend service.');
  }
  const labels = checkLabels(body['labels']);
  const ip = addressOf(body, subnetwork, place, world);
  return {
    ...body,
    ...serverFields(path, forwardingRules, world),
    region: link(`projects/${place.project.projectId}/${place.scope}`),
    IPAddress: ip,
    IPProtocol: protocol,
    ...portsOf(body),
    description: textOf(body['description']) ?? '',
    backendService: link(service.path),
    subnetwork: link(subnetwork.path),
    network: networkOf(body, subnetwork.found, place, world),
    loadBalancingScheme: 'INTERNAL',
    networkTier: 'PREMIUM',
    labelFingerprint: fingerprint(labels),
    fingerprint: fingerprint([path, ip]),
  };
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
