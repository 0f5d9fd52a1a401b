/** Cloud DNS in the simulated cloud: one table, joined from the files of its resources. */
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
import { numberOf, objectOf, objectsOf, textOf } from '../kernel/json-fields.js';
import { fieldsIn, testPermissions } from '../kernel/policy-methods.js';
import {
  createChange,
  createRecord,
  deleteRecord,
  findRecord,
  getChange,
  listChanges,
  listRecords,
  patchRecord,
} from './changes.js';
import { find, missing, paged, pathOf, projectOf, service, type ZoneRecord, zones } from './zone.js';
import { changeZone, createZone, deleteZone, listZones } from './zones.js';

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
    world.policies.set(find(call, world).path, objectOf(call.body['policy']) ?? {}, fieldsIn(call)),
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

/** Checks access on the zone, so that a role on the zone alone is enough. Creating and listing zones needs the project. */
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
