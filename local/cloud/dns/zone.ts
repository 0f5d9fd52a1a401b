/** Zones of Cloud DNS as records, and the words of its refusals. */
import { type CloudCall, GoogleError, type JsonObject, type World } from '../kernel/api.js';
import { numberOf, objectsOf } from '../kernel/json-fields.js';
import { keyOf, type Records } from './records.js';

export interface ZoneRecord {
  resource: JsonObject;
  /** Record sets by `<name> <type>`. */
  records: Records;
  changes: Record<string, JsonObject>;
  /** The id of the next change. Change 0 made the zone. */
  nextChange: number;
}

/** Zones by `projects/<id>/managedZones/<name>`. */
export const zones = (world: World): Record<string, ZoneRecord> => world.table<ZoneRecord>('dns.zones');

/** The record sets that name servers serve. A change that is still pending is not among them. */
export function servedRecords(zone: ZoneRecord): Records {
  const pending = Object.values(zone.changes).filter(({ status }) => status === 'pending');
  if (pending.length === 0) return zone.records;
  const served: Records = { ...zone.records };
  for (const { additions, deletions } of pending.sort((a, b) => Number(b['id']) - Number(a['id']))) {
    for (const record of objectsOf(additions)) delete served[keyOf(record)];
    for (const record of objectsOf(deletions)) served[keyOf(record)] = record;
  }
  return served;
}

export const missing = (what: string, name: string): GoogleError =>
  new GoogleError(404, 'NOT_FOUND', `The '${what}' resource named '${name}' does not exist.`, { reason: 'notFound' });

/** The size of a page of a list. */
export const pageSize = ({ params }: CloudCall): number => numberOf(params['maxResults']) ?? 100;
