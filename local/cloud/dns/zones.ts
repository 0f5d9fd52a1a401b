/** The zones of Cloud DNS: a declared collection, whose changes are operations. */
import { type CloudCall, GoogleError, type JsonObject, type World } from '../kernel/api.js';
import { defineCollection, type Found, type Place } from '../kernel/collection.js';
import { notSimulated } from '../kernel/errors.js';
import { stampOf, textOf, textsOf } from '../kernel/json-fields.js';
import { checkLabelForms } from '../kernel/labels.js';
import { apexRecords, invalidValue, requiredField } from './records.js';
import { missing, pageSize, type ZoneRecord, zones } from './zone.js';

function nameIn({ body }: CloudCall): string {
  const name = textOf(body['name']);
  if (name === undefined || name === '') throw requiredField('entity.managedZone.name');
  if (!/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) throw invalidValue('entity.managedZone.name', name);
  return name;
}

function make(_place: Place, { body }: CloudCall, world: World): ZoneRecord {
  const dnsName = textOf(body['dnsName']);
  if (dnsName === undefined || dnsName === '') throw requiredField('entity.managedZone.dnsName');
  if (!isDnsName(dnsName)) throw invalidValue('entity.managedZone.dnsName', dnsName);
  // Google refuses a zone without a description, though its documents don't say so.
  if (textOf(body['description']) === undefined) throw requiredField('entity.managedZone.description');
  checkLabelForms(body['labels'], badLabel);
  if ((textOf(body['visibility']) ?? 'public') !== 'public') throw notSimulated('private zones');
  checkOwnership(world, dnsName);
  const nameServers = freeServers(world, dnsName);
  const creationTime = stampOf(world);
  const resource: JsonObject = {
    ...withoutNetworks(body),
    kind: 'dns#managedZone',
    id: world.id(),
    creationTime,
    nameServers: [...nameServers],
    visibility: 'public',
    cloudLoggingConfig: body['cloudLoggingConfig'] ?? { kind: 'dns#managedZoneCloudLoggingConfig' },
  };
  const records = apexRecords(dnsName, nameServers);
  const first: JsonObject = {
    kind: 'dns#change',
    id: '0',
    startTime: creationTime,
    status: 'done',
    additions: Object.values(records),
  };
  return { resource, records, changes: { '0': first }, nextChange: 1 };
}

/** Only a private zone shows the networks that see it. */
const withoutNetworks = ({ privateVisibilityConfig: _networks, ...rest }: JsonObject): JsonObject => rest;

/** At least two labels, because nobody may have a top-level domain. */
const isDnsName = (name: string): boolean =>
  name.length <= 254 && /^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.){2,}$/i.test(name);

const badLabel = (key: string, value: string): GoogleError => invalidValue(`entity.managedZone.labels[${key}]`, value);

/** Google's sets of name servers. */
export const serverSets: readonly (readonly string[])[] = [...'abcde'].map((letter) =>
  [1, 2, 3, 4].map((digit) => `ns-cloud-${letter}${digit}.googledomains.com.`),
);

/** A set that serves no other zone of the DNS name, in any project. */
function freeServers(world: World, dnsName: string): readonly string[] {
  const taken = Object.values(zones(world))
    .filter(({ resource }) => resource['dnsName'] === dnsName)
    .map(({ resource }) => textsOf(resource['nameServers'])[0]);
  const free = serverSets.filter(([first]) => !taken.includes(first));
  const set = free[Math.floor(world.random() * free.length)];
  if (set === undefined) {
    const message = `The DNS name '${dnsName}' is not available: all sets of name servers have a zone of that name.`;
    throw new GoogleError(400, 'FAILED_PRECONDITION', message, { reason: 'managedZoneDnsNameNotAvailable' });
  }
  return set;
}

/** Domains whose owner Google has not seen proof of. No project may have zones of them or beneath them. */
export const unprovenDomains = (world: World): Record<string, boolean> => world.table<boolean>('dns.unprovenDomains');

function checkOwnership(world: World, dnsName: string): void {
  const domain = Object.keys(unprovenDomains(world)).find((one) => dnsName === one || dnsName.endsWith(`.${one}`));
  if (domain === undefined) return;
  const message = `Please verify ownership of the '${dnsName}' domain (or a parent) at http://www.google.com/webmasters/verification/ and try again`;
  throw new GoogleError(400, 'FAILED_PRECONDITION', message, { reason: 'verifyManagedZoneDnsNameOwnership' });
}

const changeable = ['description', 'labels', 'dnssecConfig', 'cloudLoggingConfig'];

function patch({ record: zone }: Found<ZoneRecord>, { body, caller }: CloudCall, world: World): JsonObject {
  const oldValue = zone.resource;
  for (const field of ['name', 'dnsName', 'id', 'visibility']) {
    const value = body[field];
    if (value !== undefined && value !== oldValue[field]) {
      throw invalidValue(`entity.managedZone.${field}`, String(value));
    }
  }
  checkLabelForms(body['labels'], badLabel);
  const given = Object.fromEntries(Object.entries(body).filter(([field]) => changeable.includes(field)));
  zone.resource = { ...oldValue, ...given };
  return {
    kind: 'dns#operation',
    id: world.id(),
    type: 'update',
    status: 'pending',
    startTime: stampOf(world),
    user: caller.email,
    zoneContext: { oldValue, newValue: zone.resource },
  };
}

function checkEmpty({ record: { records, resource } }: Found<ZoneRecord>): void {
  const others = Object.values(records).filter(
    ({ name, type }) => name !== resource['dnsName'] || (type !== 'SOA' && type !== 'NS'),
  );
  if (others.length === 0) return;
  throw new GoogleError(
    400,
    'FAILED_PRECONDITION',
    `The resource named '${String(resource['name'])}' cannot be deleted because it contains one or more 'resource records'.`,
    { reason: 'containerNotEmpty' },
  );
}

export const managedZones = defineCollection<ZoneRecord>({
  methods: 'dns.managedZones',
  table: 'dns.zones',
  shown: ({ resource }) => resource,
  missing: ({ id }) => missing('parameters.managedZone', id),
  billed: ['create', 'patch', 'delete'],
  /** A zone can be named by its number. */
  alias(path, world) {
    const [parent, id] = [path.slice(0, path.lastIndexOf('/') + 1), path.slice(path.lastIndexOf('/') + 1)];
    return Object.entries(zones(world)).find(
      ([at, { resource }]) => at.startsWith(parent) && resource['id'] === id,
    )?.[0];
  },
  create: {
    id: nameIn,
    exists: ({ id }) =>
      new GoogleError(409, 'ALREADY_EXISTS', `The resource 'entity.managedZone' named '${id}' already exists`, {
        reason: 'alreadyExists',
      }),
    make,
  },
  list: {
    field: 'managedZones',
    besides: () => ({ kind: 'dns#managedZonesListResponse', managedZones: [] }),
    size: pageSize,
    keeps:
      ({ params: { dnsName } }) =>
      (resource) =>
        dnsName === undefined || resource['dnsName'] === dnsName,
  },
  delete: { check: checkEmpty },
  policies: true,
  verbs: { patch },
});
