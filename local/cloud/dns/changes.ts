/** The changes and the record sets of a zone. Changes are atomic, and each change of a record set is a change of the zone. */
import { type CloudCall, GoogleError, type Handler, type JsonObject, type World } from '../kernel/api.js';
import { objectsOf } from '../kernel/json-fields.js';
import { changed, checkRecord, keyOf } from './records.js';
import { find, missing, paged, requiredField, type ZoneRecord } from './zone.js';

/** Applies a change completely, or throws. */
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

export const createChange: Handler = (call, world) => {
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

export const getChange: Handler = (call, world) => {
  const id = call.params['changeId'] ?? '';
  const change = find(call, world).zone.changes[id];
  if (change === undefined) throw missing('parameters.changeId', id);
  return change;
};

export const listChanges: Handler = (call, world) => {
  const direction = call.params['sortOrder'] === 'descending' ? -1 : 1;
  const all = Object.values(find(call, world).zone.changes).map((change) => {
    const order = direction * Number(change['id']) + 1_000_000_000;
    return [String(order), change] as const;
  });
  return paged('changes', 'dns#changesListResponse', call, all);
};

export const listRecords: Handler = (call, world) => {
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

export function findRecord(call: CloudCall, zone: ZoneRecord): JsonObject {
  const { name = '', type = '' } = call.params;
  const record = zone.records[keyOf({ name, type })];
  if (record === undefined) throw missing('parameters.name', `${name} (${type})`);
  return record;
}

export const createRecord: Handler = (call, world) => {
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

export const patchRecord: Handler = (call, world) => {
  const { path, zone } = find(call, world);
  const stands = findRecord(call, zone);
  const wanted = { ...stands, ...call.body };
  apply(zone, path, [wanted], [stands], world);
  return zone.records[keyOf(wanted)] ?? wanted;
};

export const deleteRecord: Handler = (call, world) => {
  const { path, zone } = find(call, world);
  apply(zone, path, [], [findRecord(call, zone)], world);
  return {};
};
