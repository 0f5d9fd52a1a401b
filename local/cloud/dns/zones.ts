/** Creates, lists, changes and deletes the zones of Cloud DNS. */
import { GoogleError, type Handler, type JsonObject, type World } from '../kernel/api.js';
import { labelsOf, textOf, textsOf } from '../kernel/json-fields.js';
import { apexRecords } from './records.js';
import { find, invalidValue, paged, projectOf, requiredField, zones } from './zone.js';

export const createZone: Handler = (call, world) => {
  const project = projectOf(call, world);
  const { body } = call;
  const name = textOf(body['name']);
  if (name === undefined || name === '') throw requiredField('entity.managedZone.name');
  if (!/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) throw invalidValue('entity.managedZone.name', name);
  const dnsName = textOf(body['dnsName']);
  if (dnsName === undefined || dnsName === '') throw requiredField('entity.managedZone.dnsName');
  if (!isDnsName(dnsName)) throw invalidValue('entity.managedZone.dnsName', dnsName);
  // Google refuses a zone without a description, though its documents don't say so.
  if (textOf(body['description']) === undefined) throw requiredField('entity.managedZone.description');
  checkLabels(body);
  const path = `projects/${project}/managedZones/${name}`;
  if (zones(world)[path] !== undefined) {
    throw new GoogleError(409, 'ALREADY_EXISTS', `The resource 'entity.managedZone' named '${name}' already exists`, {
      reason: 'alreadyExists',
    });
  }
  const visibility = textOf(body['visibility']) ?? 'public';
  if (visibility === 'public') checkOwnership(world, dnsName);
  const nameServers = visibility === 'public' ? freeServers(world, dnsName) : ['ns-gcp-private.googledomains.com.'];
  const resource: JsonObject = {
    ...shownTo(visibility, body),
    kind: 'dns#managedZone',
    id: world.id(),
    creationTime: new Date(world.now()).toISOString(),
    nameServers: [...nameServers],
    visibility,
    cloudLoggingConfig: body['cloudLoggingConfig'] ?? { kind: 'dns#managedZoneCloudLoggingConfig' },
  };
  const records = apexRecords(dnsName, nameServers);
  const first: JsonObject = {
    kind: 'dns#change',
    id: '0',
    startTime: resource['creationTime'] ?? '',
    status: 'done',
    additions: Object.values(records),
  };
  zones(world)[path] = { resource, records, changes: { '0': first }, nextChange: 1, operations: {} };
  return resource;
};

/** Only a private zone says which networks see it. */
const shownTo = (visibility: string, { privateVisibilityConfig, ...rest }: JsonObject): JsonObject =>
  visibility === 'private' && privateVisibilityConfig !== undefined ? { ...rest, privateVisibilityConfig } : rest;

/** At least two labels, because nobody may have a top-level domain. */
const isDnsName = (name: string): boolean =>
  name.length <= 254 && /^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.){2,}$/i.test(name);

function checkLabels(body: JsonObject): void {
  for (const [key, value] of Object.entries(labelsOf(body['labels']))) {
    if (!/^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u.test(key) || !/^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u.test(value)) {
      throw invalidValue(`entity.managedZone.labels[${key}]`, value);
    }
  }
}

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

export const listZones: Handler = (call, world) => {
  const root = `projects/${projectOf(call, world)}/`;
  const { dnsName } = call.params;
  const all = Object.entries(zones(world))
    .filter(
      ([path, { resource }]) => path.startsWith(root) && (dnsName === undefined || resource['dnsName'] === dnsName),
    )
    .map(([path, { resource }]) => [path, resource] as const);
  return paged('managedZones', 'dns#managedZonesListResponse', call, all);
};

const changeable = [
  'description',
  'labels',
  'dnssecConfig',
  'cloudLoggingConfig',
  'privateVisibilityConfig',
  'forwardingConfig',
];

export const changeZone =
  (type: 'patch' | 'update'): Handler =>
  (call, world) => {
    const { path, zone } = find(call, world);
    for (const field of ['name', 'dnsName', 'id', 'visibility']) {
      const value = call.body[field];
      if (value !== undefined && value !== zone.resource[field])
        throw invalidValue(`entity.managedZone.${field}`, String(value));
    }
    checkLabels(call.body);
    const oldValue = zone.resource;
    const given = Object.fromEntries(Object.entries(call.body).filter(([field]) => changeable.includes(field)));
    const kept = Object.fromEntries(
      Object.entries(oldValue).filter(
        ([field]) => type === 'patch' || !changeable.includes(field) || field === 'cloudLoggingConfig',
      ),
    );
    zone.resource = { ...kept, ...shownTo(String(oldValue['visibility']), given) };
    const id = `${world.id()}`;
    const operation: JsonObject = {
      kind: 'dns#operation',
      id,
      type: 'update',
      status: 'pending',
      startTime: new Date(world.now()).toISOString(),
      user: call.caller.email,
      zoneContext: { oldValue, newValue: zone.resource },
    };
    zone.operations[id] = operation;
    world.schedule(3, 'dns.operations.done', { path, id });
    return operation;
  };

export const deleteZone: Handler = (call, world) => {
  const { path, zone } = find(call, world);
  const others = Object.values(zone.records).filter(
    ({ name, type }) => name !== zone.resource['dnsName'] || (type !== 'SOA' && type !== 'NS'),
  );
  if (others.length > 0) {
    const name = String(zone.resource['name']);
    throw new GoogleError(
      400,
      'FAILED_PRECONDITION',
      `The resource named '${name}' cannot be deleted because it contains one or more 'resource records'.`,
      { reason: 'containerNotEmpty' },
    );
  }
  delete zones(world)[path];
  world.policies.remove(path);
  return {};
};
