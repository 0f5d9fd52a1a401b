/** Creates, lists, changes and deletes the zones of Cloud DNS. */
import { GoogleError, type Handler, type JsonObject, type World } from '../kernel/api.js';
import { labelsOf, textOf, textsOf } from '../kernel/json-fields.js';
import { apexRecords } from './records.js';
import { find, invalidValue, paged, projectOf, requiredField, type ZoneRecord, zones } from './zone.js';

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
  const nameServers = freeServers(world, project, dnsName);
  const resource: JsonObject = {
    ...body,
    kind: 'dns#managedZone',
    id: world.id(),
    creationTime: new Date(world.now()).toISOString(),
    nameServers,
    visibility: textOf(body['visibility']) ?? 'public',
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

/** Google has five sets of servers. Zones of the same DNS name get different sets, and a project gets each set once. */
function freeServers(world: World, project: string, dnsName: string): string[] {
  const same = Object.entries(zones(world)).filter(([, { resource }]) => resource['dnsName'] === dnsName);
  const mine = same.filter(([path]) => path.startsWith(`projects/${project}/`));
  const free = without(same).length > 0 ? without(same) : without(mine);
  const letter = free[Math.floor(world.random() * free.length)];
  if (letter === undefined) {
    const message = `The name servers of '${dnsName}' are all in use. Verify ownership of the domain to make more zones of it.`;
    throw new GoogleError(400, 'FAILED_PRECONDITION', message, { reason: 'managedZoneDnsNameNotAvailable' });
  }
  return [1, 2, 3, 4].map((digit) => `ns-cloud-${letter}${digit}.googledomains.com.`);
}

const without = (taken: readonly (readonly [string, ZoneRecord])[]): string[] => {
  const letters = taken.map(([, { resource }]) => textsOf(resource['nameServers'])[0]?.charAt('ns-cloud-'.length));
  return [...'abcde'].filter((letter) => !letters.includes(letter));
};

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
    zone.resource = { ...kept, ...given };
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
