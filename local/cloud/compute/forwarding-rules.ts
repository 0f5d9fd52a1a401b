/**
 * Compute's forwarding rules: an address and where its traffic goes. Public ones lead to a target pool, internal ones to a
 * backend service. Both are named only.
 */
import type { JsonObject, World } from '../kernel/api.js';
import { notSimulated } from '../kernel/errors.js';
import { textOf, textsOf } from '../kernel/json-fields.js';
import { freshExternalIp, reservedIn, useAddress, useAddresses } from './addresses.js';
import { defineCollection, type Wanted } from './collection.js';
import { internalRule, unservedIn } from './internal-forwarding.js';
import { parseIp } from './ip-ranges.js';
import { projectIn } from './of-project.js';
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
  notFound,
  notReady,
  type Place,
  pathOf,
  serverFields,
  unlink,
} from './resources.js';

const { addresses, forwardingRules } = collections;

function make(wanted: Wanted, world: World): JsonObject {
  const { body } = wanted.call;
  const isInternal = textOf(body['loadBalancingScheme']) === 'INTERNAL';
  const rule = isInternal ? internalRule(wanted, world) : externalRule(wanted, world);
  checkConflict(rule, world);
  const ip = String(rule['IPAddress']);
  useAddresses(world, wanted.place, [ip], wanted.path, true);
  return rule;
}

function externalRule({ call: { body }, path, place }: Wanted, world: World): JsonObject {
  checkKind(body);
  const target = unservedIn(body, 'target', 'targetPools', place, world);
  const protocol = textOf(body['IPProtocol']) ?? 'TCP';
  const ports = portRange(body, protocol);
  const address = addressOf(textOf(body['IPAddress']), place, world);
  const ip = address.ip ?? freshExternalIp(world);
  const labels = checkLabels(body['labels']);
  return {
    ...body,
    ...serverFields(path, forwardingRules, world),
    region: link(`projects/${place.project.projectId}/${place.scope}`),
    IPAddress: ip,
    IPProtocol: protocol,
    ...(ports === undefined ? {} : { portRange: ports }),
    description: textOf(body['description']) ?? '',
    target,
    loadBalancingScheme: 'EXTERNAL',
    networkTier: textOf(body['networkTier']) ?? address.tier ?? 'PREMIUM',
    labelFingerprint: fingerprint(labels),
    fingerprint: fingerprint([path, ip]),
  };
}

/** The simulation has the public rules that the cloud controller makes: to target pools. */
function checkKind(body: JsonObject): void {
  const scheme = textOf(body['loadBalancingScheme']) || 'EXTERNAL';
  const other = ['backendService', 'network', 'subnetwork'].find((field) => (textOf(body[field]) ?? '') !== '');
  if (scheme !== 'EXTERNAL' || other !== undefined) {
    const what = other === undefined ? `of scheme ${scheme}` : `with ${other}`;
    throw notSimulated(`forwarding rules ${what}`);
  }
  for (const field of ['ports', 'allPorts']) {
    const value = body[field];
    if (value !== undefined && value !== false && textsOf(value).length + Number(value === true) > 0) {
      throw invalid(`resource.${field}`, String(value), 'Rules with a target pool take portRange alone.');
    }
  }
}

const withPorts = ['TCP', 'UDP', 'SCTP'];
const withoutPorts = ['AH', 'ESP', 'ICMP'];

/** `80` becomes `80-80`. Without one, all ports are meant. */
function portRange(body: JsonObject, protocol: string): string | undefined {
  if (!withPorts.includes(protocol) && !withoutPorts.includes(protocol)) {
    throw invalid('resource.IPProtocol', protocol, 'The protocol does not fit a target pool.');
  }
  const given = textOf(body['portRange']);
  if (withoutPorts.includes(protocol)) {
    if (given === undefined || given === '') return undefined;
    throw invalid('resource.portRange', given, `Ports may not be specified with the protocol '${protocol}'.`);
  }
  if (given === undefined || given === '') return '1-65535';
  const [from = NaN, to = from] = /^\d{1,5}(-\d{1,5})?$/.test(given) ? given.split('-').map(Number) : [];
  if (!(from >= 1 && from <= to && to <= 65535)) {
    throw invalid('resource.portRange', given, 'Must be a port number, or a range of them from 1 to 65535.');
  }
  return `${from}-${to}`;
}

/** The address that a rule asks for: a reserved one of the region, by its value or its URL. */
function addressOf(
  wanted: string | undefined,
  place: Place,
  world: World,
): { readonly ip?: string; readonly tier?: string } {
  if (wanted === undefined || wanted === '') return {};
  const field = 'resource.IPAddress';
  const reserved =
    parseIp(wanted) === undefined ? namedAddress(wanted, place, world) : reservedIn(world, place, wanted);
  if (reserved === undefined) throw invalid(field, wanted, 'Invalid IP address specified.');
  const { path, found } = reserved;
  if (found.phase !== 'ready') throw notReady(path);
  if (!path.startsWith(`${place.prefix}/`) || found.resource['addressType'] !== 'EXTERNAL') {
    throw invalid(field, wanted, 'The address must be an external address of the region of the forwarding rule.');
  }
  // Rules may share an address. Nothing else may.
  const user = textsOf(found.resource['users']).find((one) => !one.includes('/forwardingRules/'));
  if (user !== undefined) throw inUse('address', path, unlink(user));
  return { ip: String(found.resource['address']), tier: String(found.resource['networkTier'] ?? 'PREMIUM') };
}

function namedAddress(reference: string, place: Place, world: World): { path: string; found: Held } {
  const path = pathOf(reference, 'resource.IPAddress', place, world);
  const found = held(world, addresses)[path];
  if (found === undefined) throw notFound(path);
  return { path, found };
}

/** Two rules of one address must differ in protocol or ports. */
function checkConflict(rule: JsonObject, world: World): void {
  for (const { resource } of Object.values(held(world, forwardingRules))) {
    if (resource['IPAddress'] !== rule['IPAddress'] || resource['IPProtocol'] !== rule['IPProtocol']) continue;
    // Every network has internal addresses of its own.
    if (resource['network'] !== rule['network']) continue;
    const isSame = spansOf(rule).some(([from, to]) =>
      spansOf(resource).some(([first, last]) => from <= last && first <= to),
    );
    if (isSame) {
      const why = 'Specified IP address is in-use and would result in a conflict.';
      throw invalid('resource.IPAddress', String(rule['IPAddress']), why);
    }
  }
}

/** From and to. Without ports, all are meant. */
function spansOf({ portRange: range, ports }: JsonObject): (readonly [number, number])[] {
  const given = textsOf(ports).length > 0 ? textsOf(ports) : (textOf(range) ?? '') === '' ? [] : [String(range)];
  if (given.length === 0) return [[0, 65535]];
  return given.map((one) => {
    const [from = 0, to = from] = one.split('-').map(Number);
    return [from, to];
  });
}

/** The address stays taken until the rule is gone. An ephemeral one is then released. */
function released(path: string, { resource }: Held, world: World): void {
  for (const [at, found] of heldIn(world, addresses, projectIn(path))) {
    if (found.resource['address'] !== resource['IPAddress'] || !at.startsWith(path.split('/').slice(0, 4).join('/')))
      continue;
    useAddress(found, path, false);
  }
}

export const servedForwardingRules = defineCollection({
  of: forwardingRules,
  scope: 'region',
  make,
  deleted: released,
});
