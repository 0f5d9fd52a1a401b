/** The changes and the record sets of a zone. Changes are atomic, and each change of a record set is a change of the zone. */
import { type CloudCall, type Effect, GoogleError, type Handler, type JsonObject, type World } from '../kernel/api.js';
import type { Found } from '../kernel/collection.js';
import { objectsOf, stampOf } from '../kernel/json-fields.js';
import { pageReply } from '../kernel/pages.js';
import { changed, keyOf, requiredField } from './records.js';
import { missing, pageSize, type ZoneRecord } from './zone.js';
import { managedZones } from './zones.js';

/** Applies a change completely, or throws. */
function apply(
  { record: zone, path }: Found<ZoneRecord>,
  additions: JsonObject[],
  deletions: JsonObject[],
  world: World,
): JsonObject {
  world.project(path.split('/')[1] ?? '', { billing: true });
  zone.records = changed(zone.records, String(zone.resource['dnsName']), additions, deletions);
  const id = String(zone.nextChange);
  zone.nextChange += 1;
  const change: JsonObject = {
    kind: 'dns#change',
    id,
    startTime: stampOf(world),
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
  const found = managedZones.find(call, world);
  const [additions, deletions] = [objectsOf(call.body['additions']), objectsOf(call.body['deletions'])];
  if (additions.length + deletions.length === 0) throw requiredField('entity.change');
  if (additions.length > 1000 || deletions.length > 1000) {
    throw new GoogleError(400, 'INVALID_ARGUMENT', 'A change has at most 1000 additions and 1000 deletions.', {
      reason: 'quotaExceeded',
    });
  }
  return apply(found, additions, deletions, world);
};

export const getChange: Handler = (call, world) => {
  const id = call.params['changeId'] ?? '';
  const change = managedZones.find(call, world).record.changes[id];
  if (change === undefined) throw missing('parameters.changeId', id);
  return change;
};

export const listChanges: Handler = (call, world) => {
  const direction = call.params['sortOrder'] === 'descending' ? -1 : 1;
  const all = Object.values(managedZones.find(call, world).record.changes).map((change) => {
    const order = direction * Number(change['id']) + 1_000_000_000;
    return [String(order), change] as const;
  });
  return { kind: 'dns#changesListResponse', changes: [], ...pageReply(call, 'changes', all, pageSize(call)) };
};

export const listRecords: Handler = (call, world) => {
  const { record: zone } = managedZones.find(call, world);
  const { name, type } = call.params;
  if (type !== undefined && name === undefined) throw requiredField('parameters.name');
  const all = Object.values(zone.records)
    .filter(
      (record) => (name === undefined || record['name'] === name) && (type === undefined || record['type'] === type),
    )
    .map((record) => [sortKey(record, zone), record] as const);
  return {
    kind: 'dns#resourceRecordSetsListResponse',
    rrsets: [],
    ...pageReply(call, 'rrsets', all, pageSize(call)),
  };
};

/** Google lists the apex first. */
const sortKey = (record: JsonObject, zone: ZoneRecord): string =>
  `${record['name'] === zone.resource['dnsName'] ? 0 : 1} ${String(record['name'])} ${String(record['type'])}`;

function recordIn(call: CloudCall, zone: ZoneRecord): JsonObject {
  const { name = '', type = '' } = call.params;
  const record = zone.records[keyOf({ name, type })];
  if (record === undefined) throw missing('parameters.name', `${name} (${type})`);
  return record;
}

export const getRecord: Handler = (call, world) => recordIn(call, managedZones.find(call, world).record);

export const deleteRecord: Handler = (call, world) => {
  const found = managedZones.find(call, world);
  apply(found, [], [recordIn(call, found.record)], world);
  return {};
};

/** A change stays pending for some seconds. */
export const changeDone: Effect = (args, world) => {
  const change = managedZones.records(world)[String(args['path'])]?.changes[String(args['id'])];
  if (change !== undefined) Object.assign(change, { status: 'done', isServing: true });
};
