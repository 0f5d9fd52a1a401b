/** Cloud DNS in the simulated cloud: zones, their record sets, and the changes of these. */
import { type Access, type ApiDefinition, type CloudCall, GoogleError } from '../kernel/api.js';
import { joined } from '../kernel/collection.js';
import { objectsOf } from '../kernel/json-fields.js';
import { changeDone, createChange, deleteRecord, getChange, getRecord, listChanges, listRecords } from './changes.js';
import { managedZones } from './zones.js';

/** A change needs the permissions of what it does to record sets, too. */
function changeAccess({ body, resource }: CloudCall): readonly Access[] {
  const permissions = [
    'dns.changes.create',
    ...(objectsOf(body['additions']).length > 0 ? ['dns.resourceRecordSets.create'] : []),
    ...(objectsOf(body['deletions']).length > 0 ? ['dns.resourceRecordSets.delete'] : []),
  ];
  return permissions.map((permission) => ({ permission, resource }));
}

export const dns: ApiDefinition<'dns'> = {
  api: 'dns.v1',
  denied: () => new GoogleError(403, 'PERMISSION_DENIED', 'Forbidden', { reason: 'forbidden' }),
  ...joined(managedZones, {
    handlers: {
      'dns.changes.create': createChange,
      'dns.changes.get': getChange,
      'dns.changes.list': listChanges,
      'dns.resourceRecordSets.list': listRecords,
      'dns.resourceRecordSets.get': getRecord,
      'dns.resourceRecordSets.delete': deleteRecord,
    },
    access: { 'dns.changes.create': changeAccess },
    effects: { 'dns.changes.done': changeDone },
  }),
};
