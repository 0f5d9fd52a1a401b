/** Cloud DNS as the simulated cloud serves it: zones, record sets, atomic changes, policies. Listed in index.ts. */

import { testPermissions } from '../iam/test-permissions.js';
import {
  type Access,
  type ApiDefinition,
  type CloudCall,
  type Effect,
  GoogleError,
  type Handler,
  type JsonObject,
  type World,
} from '../kernel/api.js';
import { labelsOf, numberOf, objectOf, objectsOf, textOf, textsOf } from '../kernel/json-fields.js';
import { pageOf } from '../kernel/pages.js';
import { apexRecords, changed, checkRecord, keyOf, type Records } from './records.js';

const service = 'dns.googleapis.com';

interface ZoneRecord {
  resource: JsonObject;
  /** By `<name> <type>`. */
  records: Records;
  changes: Record<string, JsonObject>;
  /** The next change's id; the first, 0, made the zone. */
  nextChange: number;
  operations: Record<string, JsonObject>;
}

/** By `projects/<id>/managedZones/<name>`. */
const zones = (world: World): Record<string, ZoneRecord> => world.table<ZoneRecord>('dns.zones');

const missing = (what: string, name: string): GoogleError =>
  new GoogleError(404, 'NOT_FOUND', `The '${what}' resource named '${name}' does not exist.`, { reason: 'notFound' });

const invalidValue = (field: string, value: string): GoogleError =>
  new GoogleError(400, 'INVALID_ARGUMENT', `Invalid value for '${field}': '${value}'`, { reason: 'invalid' });

const requiredField = (field: string): GoogleError =>
  new GoogleError(400, 'INVALID_ARGUMENT', `The '${field}' parameter is required but was missing.`, {
    reason: 'required',
  });

interface Found {
  readonly path: string;
  readonly zone: ZoneRecord;
}

function projectOf(call: CloudCall, world: World): string {
  const given = call.params['project'] ?? (call.params['resource'] ?? '').split('/')[1] ?? '';
  const writes = /\.(create|patch|update|delete)$/.test(call.method);
  return world.project(given, { service, billing: writes }).projectId;
}

function pathOf(call: CloudCall, world: World): string {
  const name = call.params['managedZone'] ?? (call.params['resource'] ?? '').split('/')[3] ?? '';
  return `projects/${projectOf(call, world)}/managedZones/${name}`;
}

/** By name, or by numeric id. */
function find(call: CloudCall, world: World): Found {
  const path = pathOf(call, world);
  const name = path.slice(path.lastIndexOf('/') + 1);
  const direct = zones(world)[path];
  if (direct !== undefined) return { path, zone: direct };
  for (const [at, zone] of Object.entries(zones(world))) {
    if (zone.resource['id'] === name && at.startsWith(path.slice(0, -name.length))) return { path: at, zone };
  }
  throw missing('parameters.managedZone', name);
}

const paged = (
  field: string,
  kind: string,
  call: CloudCall,
  entries: readonly (readonly [string, JsonObject])[],
): JsonObject => {
  const page = pageOf(entries, numberOf(call.params['maxResults']) ?? 100, call.params['pageToken']);
  return {
    kind,
    [field]: page.items,
    ...(page.nextPageToken === undefined ? {} : { nextPageToken: page.nextPageToken }),
  };
};

// --- zones ----------------------------------------------------------------------------------------------------------

const createZone: Handler = (call, world) => {
  const project = projectOf(call, world);
  const { body } = call;
  const name = textOf(body['name']);
  if (name === undefined || name === '') throw requiredField('entity.managedZone.name');
  if (!/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) throw invalidValue('entity.managedZone.name', name);
  const dnsName = textOf(body['dnsName']);
  if (dnsName === undefined || dnsName === '') throw requiredField('entity.managedZone.dnsName');
  if (!isDnsName(dnsName)) throw invalidValue('entity.managedZone.dnsName', dnsName);
  // Google's own documents don't say so, but a zone without description is refused.
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

/** At least two labels; top-level domains are not for anybody. */
const isDnsName = (name: string): boolean =>
  name.length <= 254 && /^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.){2,}$/i.test(name);

function checkLabels(body: JsonObject): void {
  for (const [key, value] of Object.entries(labelsOf(body['labels']))) {
    if (!/^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u.test(key) || !/^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u.test(value)) {
      throw invalidValue(`entity.managedZone.labels[${key}]`, value);
    }
  }
}

/** Five sets of servers. Zones of the same DNS name get different ones; a project gets each set once. */
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

const listZones: Handler = (call, world) => {
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

const changeZone =
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

const deleteZone: Handler = (call, world) => {
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

// --- changes --------------------------------------------------------------------------------------------------------

/** All or nothing. */
function apply(
  zone: ZoneRecord,
  path: string,
  additions: JsonObject[],
  deletions: JsonObject[],
  world: World,
): JsonObject {
  zone.records = changed(zone.records, String(zone.resource['dnsName']), additions, deletions);
  const id = String(zone.nextChange);
  zone.nextChange += 1;
  const change: JsonObject = {
    kind: 'dns#change',
    id,
    startTime: new Date(world.now()).toISOString(),
    status: 'pending',
    isServing: false,
    ...(additions.length === 0 ? {} : { additions: additions.map(asRecord) }),
    ...(deletions.length === 0 ? {} : { deletions: deletions.map(asRecord) }),
  };
  zone.changes[id] = change;
  world.schedule(5, 'dns.changes.done', { path, id });
  return change;
}

const asRecord = (record: JsonObject): JsonObject => ({ ...record, kind: 'dns#resourceRecordSet' });

const createChange: Handler = (call, world) => {
  const { path, zone } = find(call, world);
  const [additions, deletions] = [objectsOf(call.body['additions']), objectsOf(call.body['deletions'])];
  if (additions.length + deletions.length === 0) throw requiredField('entity.change');
  if (additions.length > 1000 || deletions.length > 1000) {
    throw new GoogleError(400, 'INVALID_ARGUMENT', 'A change has at most 1000 additions and 1000 deletions.', {
      reason: 'quotaExceeded',
    });
  }
  return apply(zone, path, additions, deletions, world);
};

const getChange: Handler = (call, world) => {
  const id = call.params['changeId'] ?? '';
  const change = find(call, world).zone.changes[id];
  if (change === undefined) throw missing('parameters.changeId', id);
  return change;
};

const listChanges: Handler = (call, world) => {
  const direction = call.params['sortOrder'] === 'descending' ? -1 : 1;
  const all = Object.values(find(call, world).zone.changes).map((change) => {
    const order = direction * Number(change['id']) + 1_000_000_000;
    return [String(order), change] as const;
  });
  return paged('changes', 'dns#changesListResponse', call, all);
};

// --- record sets ----------------------------------------------------------------------------------------------------

const listRecords: Handler = (call, world) => {
  const { zone } = find(call, world);
  const { name, type } = call.params;
  if (type !== undefined && name === undefined) throw requiredField('parameters.name');
  const all = Object.values(zone.records)
    .filter(
      (record) => (name === undefined || record['name'] === name) && (type === undefined || record['type'] === type),
    )
    .map((record) => [sortKey(record, zone), record] as const);
  return paged('rrsets', 'dns#resourceRecordSetsListResponse', call, all);
};

/** Google lists the apex first. */
const sortKey = (record: JsonObject, zone: ZoneRecord): string =>
  `${record['name'] === zone.resource['dnsName'] ? 0 : 1} ${String(record['name'])} ${String(record['type'])}`;

function findRecord(call: CloudCall, zone: ZoneRecord): JsonObject {
  const { name = '', type = '' } = call.params;
  const record = zone.records[keyOf({ name, type })];
  if (record === undefined) throw missing('parameters.name', `${name} (${type})`);
  return record;
}

const createRecord: Handler = (call, world) => {
  const { path, zone } = find(call, world);
  checkRecord(call.body, String(zone.resource['dnsName']), 'entity.resourceRecordSet');
  const key = keyOf(call.body);
  if (zone.records[key] !== undefined) {
    const named = `${String(call.body['name'])} (${String(call.body['type'])})`;
    throw new GoogleError(409, 'ALREADY_EXISTS', `The resource 'entity.rrset' named '${named}' already exists`, {
      reason: 'alreadyExists',
    });
  }
  apply(zone, path, [call.body], [], world);
  return zone.records[key] ?? call.body;
};

const patchRecord: Handler = (call, world) => {
  const { path, zone } = find(call, world);
  const stands = findRecord(call, zone);
  const wanted = { ...stands, ...call.body };
  apply(zone, path, [wanted], [stands], world);
  return zone.records[keyOf(wanted)] ?? wanted;
};

const deleteRecord: Handler = (call, world) => {
  const { path, zone } = find(call, world);
  apply(zone, path, [], [findRecord(call, zone)], world);
  return {};
};

// --- the rest -------------------------------------------------------------------------------------------------------

const getProject: Handler = (call, world) => {
  const { projectId, projectNumber } = world.project(call.params['project'] ?? '', { service });
  return {
    kind: 'dns#project',
    id: projectId,
    number: projectNumber,
    quota: {
      kind: 'dns#quota',
      managedZones: 10_000,
      rrsetsPerManagedZone: 10_000,
      rrsetAdditionsPerChange: 1000,
      rrsetDeletionsPerChange: 1000,
    },
  };
};

const getOperation: Handler = (call, world) => {
  const id = call.params['operation'] ?? '';
  const operation = find(call, world).zone.operations[id];
  if (operation === undefined) throw missing('parameters.operation', id);
  return operation;
};

const handlers: Readonly<Record<string, Handler>> = {
  'projects.get': getProject,
  'managedZones.create': createZone,
  'managedZones.get': (call, world) => find(call, world).zone.resource,
  'managedZones.list': listZones,
  'managedZones.patch': changeZone('patch'),
  'managedZones.update': changeZone('update'),
  'managedZones.delete': deleteZone,
  'managedZones.getIamPolicy': (call, world) =>
    world.policies.get(find(call, world).path, numberOf(objectOf(call.body['options'])?.['requestedPolicyVersion'])),
  'managedZones.setIamPolicy': (call, world) =>
    world.policies.set(find(call, world).path, objectOf(call.body['policy']) ?? {}),
  'managedZones.testIamPermissions': (call, world) => testPermissions(call, world, find(call, world).path),
  'managedZoneOperations.get': getOperation,
  'managedZoneOperations.list': (call, world) =>
    paged(
      'operations',
      'dns#managedZoneOperationsListResponse',
      call,
      Object.entries(find(call, world).zone.operations),
    ),
  'changes.create': createChange,
  'changes.get': getChange,
  'changes.list': listChanges,
  'resourceRecordSets.list': listRecords,
  'resourceRecordSets.get': (call, world) => findRecord(call, find(call, world).zone),
  'resourceRecordSets.create': createRecord,
  'resourceRecordSets.patch': patchRecord,
  'resourceRecordSets.delete': deleteRecord,
};

/** On the zone, so that a role on the zone alone is enough; making and listing zones is on the project. */
function accessOf(method: string, call: CloudCall, world: World): readonly Access[] {
  const [collection = '', verb = ''] = method.split('.');
  if (verb === 'testIamPermissions') return [];
  const onProject = method === 'managedZones.create' || method === 'managedZones.list' || method === 'projects.get';
  const resource = onProject ? `projects/${projectOf(call, world)}` : pathOf(call, world);
  const verbs: Readonly<Record<string, string>> = { patch: 'update' };
  const permissions = [`dns.${collection}.${verbs[verb] ?? verb}`];
  if (method === 'changes.create') {
    if (objectsOf(call.body['additions']).length > 0) permissions.push('dns.resourceRecordSets.create');
    if (objectsOf(call.body['deletions']).length > 0) permissions.push('dns.resourceRecordSets.delete');
  }
  return permissions.map((permission) => ({ permission, resource }));
}

const done =
  (pick: (zone: ZoneRecord) => Record<string, JsonObject>): Effect =>
  (args, world) => {
    const zone = zones(world)[textOf(args['path']) ?? ''];
    const one = zone && pick(zone)[textOf(args['id']) ?? ''];
    if (one === undefined) return;
    one['status'] = 'done';
    if (one['kind'] === 'dns#change') one['isServing'] = true;
  };

export const dns: ApiDefinition<'dns'> = {
  api: 'dns.v1',
  denied: () => new GoogleError(403, 'PERMISSION_DENIED', 'Forbidden', { reason: 'forbidden' }),
  handlers: Object.fromEntries(Object.entries(handlers).map(([method, handler]) => [`dns.${method}`, handler])),
  effects: {
    'dns.changes.done': done((zone) => zone.changes),
    'dns.operations.done': done((zone) => zone.operations),
  },
  access: Object.fromEntries(
    Object.keys(handlers).map((method) => [
      `dns.${method}`,
      (call: CloudCall, world: World) => accessOf(method, call, world),
    ]),
  ),
};
