/** Compute's firewall rules. */
import { GoogleError, type Json, type JsonObject, type World } from '../kernel/api.js';
import { objectsOf, textOf, textsOf } from '../kernel/json-fields.js';
import { defineCollection, type Found } from './collection.js';
import { isIpv6Range, parseRange } from './ip-ranges.js';
import { networkOf } from './networks.js';
import { checkName, collections, invalid, link, type Place, serverFields } from './resources.js';

const { firewalls } = collections;

function changed({ found, place }: Found, given: JsonObject, wanted: JsonObject, world: World): JsonObject {
  const { kind, id, creationTimestamp, selfLink, name, direction } = found.resource;
  const server = { kind, id, creationTimestamp, selfLink, name } as JsonObject;
  const turned = withoutEmpty(given)['direction'];
  if (turned !== undefined && turned !== direction) {
    throw invalid('resource.direction', String(turned), 'Firewall direction cannot be changed once created.');
  }
  return { ...ruleOf({ ...wanted, name } as JsonObject, place, world), ...server };
}

/** The fields an update cannot change. */
const kept = ({ network, direction }: JsonObject) => ({ network, direction }) as JsonObject;

/** An empty list removes the field. A new `allowed` replaces `denied`, and the reverse. */
function merged(stands: JsonObject, given: JsonObject): JsonObject {
  const all = withoutEmpty({ ...stands, ...given });
  if (objectsOf(given['allowed']).length > 0 && given['denied'] === undefined) delete all['denied'];
  if (objectsOf(given['denied']).length > 0 && given['allowed'] === undefined) delete all['allowed'];
  return all;
}

const withoutEmpty = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => !(Array.isArray(value) && value.length === 0)));

function ruleOf(body: JsonObject, place: Place, world: World): JsonObject {
  const given = withoutEmpty(body);
  const direction = textOf(given['direction']) ?? 'INGRESS';
  const [allowed, denied] = [objectsOf(given['allowed']), objectsOf(given['denied'])];
  if ((allowed.length === 0) === (denied.length === 0)) {
    throw refused('Exactly one of allowed or denied must be specified for the firewall.');
  }
  for (const [field, one] of [...allowed.entries(), ...denied.entries()]) {
    checkProtocol(one, `resource.${allowed.length > 0 ? 'allowed' : 'denied'}[${field}]`);
  }
  if (
    direction === 'EGRESS' &&
    (given['sourceRanges'] ?? given['sourceTags'] ?? given['sourceServiceAccounts']) !== undefined
  ) {
    throw refused('Egress firewalls may not specify sources; use destinationRanges.');
  }
  for (const field of ['sourceRanges', 'destinationRanges']) checkRanges(given[field], `resource.${field}`);
  for (const field of ['sourceTags', 'targetTags']) {
    for (const [index, tag] of textsOf(given[field]).entries()) checkName(tag, `resource.${field}[${index}]`);
  }
  const tags = given['sourceTags'] ?? given['targetTags'];
  const accounts = given['sourceServiceAccounts'] ?? given['targetServiceAccounts'];
  if (tags !== undefined && accounts !== undefined) {
    throw refused('Firewall rules cannot use service accounts and tags at once.');
  }
  const priority = typeof given['priority'] === 'number' ? given['priority'] : 1000;
  if (priority < 0 || priority > 65535)
    throw invalid('resource.priority', String(priority), 'Must be between 0 and 65535.');
  const network = networkOf(textOf(given['network']) ?? 'global/networks/default', 'resource.network', place, world);
  const anySource = given['sourceTags'] ?? given['sourceServiceAccounts'];
  return {
    ...given,
    direction,
    priority,
    network: link(network.path),
    disabled: given['disabled'] ?? false,
    logConfig: given['logConfig'] ?? { enable: false },
    ...(direction === 'INGRESS' && given['sourceRanges'] === undefined && anySource === undefined
      ? { sourceRanges: ['0.0.0.0/0'] }
      : {}),
    ...(direction === 'EGRESS' && given['destinationRanges'] === undefined ? { destinationRanges: ['0.0.0.0/0'] } : {}),
  };
}

const protocols = ['tcp', 'udp', 'icmp', 'esp', 'ah', 'sctp', 'ipip', 'all'];

function checkProtocol(one: JsonObject, field: string): void {
  const protocol = textOf(one['IPProtocol']) ?? '';
  const isNumber = /^\d{1,3}$/.test(protocol) && Number(protocol) <= 255;
  if (!protocols.includes(protocol.toLowerCase()) && !isNumber) {
    throw invalid(`${field}.IPProtocol`, protocol, 'Must be a well-known protocol name or a protocol number.');
  }
  const ports = textsOf(one['ports']);
  if (ports.length > 0 && !['tcp', 'udp', 'sctp', '6', '17', '132'].includes(protocol.toLowerCase())) {
    throw invalid(
      `${field}.ports`,
      ports.join(','),
      'Ports may only be specified on rules whose protocol is TCP, UDP, or SCTP.',
    );
  }
  for (const [index, port] of ports.entries()) {
    const [from = NaN, to = from] = /^\d{1,5}(-\d{1,5})?$/.test(port) ? port.split('-').map(Number) : [];
    if (!(from <= to && to <= 65535)) {
      throw invalid(`${field}.ports[${index}]`, port, 'Must be a port number or a range of them.');
    }
  }
}

/** Google's documentation: a rule holds ranges of IPv4 or of IPv6, and not of both. */
function checkRanges(value: Json | undefined, field: string): void {
  const texts = textsOf(value);
  if (new Set(texts.map((text) => text.includes(':'))).size > 1)
    throw invalid(field, texts.join(','), 'IPv4 and IPv6 ranges cannot be combined in one firewall rule.');
  for (const [index, text] of texts.entries()) {
    const range = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`;
    if (text.includes(':') ? !isIpv6Range(range) : parseRange(range) === undefined) {
      throw invalid(
        `${field}[${index}]`,
        text,
        'Must be a valid CIDR address range that begins with its first address.',
      );
    }
  }
}

const refused = (message: string): GoogleError =>
  new GoogleError(400, 'INVALID_ARGUMENT', message, { reason: 'invalid' });

export const servedFirewalls = defineCollection({
  of: firewalls,
  quota: 'FIREWALLS',
  make: ({ call, path, place }, world) => ({
    ...ruleOf(call.body, place, world),
    ...serverFields(path, firewalls, world),
  }),
  changes: {
    patch: (at, body, world) => changed(at, body, merged(at.found.resource, body), world),
    update: (at, body, world) => changed(at, body, { ...kept(at.found.resource), ...withoutEmpty(body) }, world),
  },
});
