/** Stores, finds and lists the zones of Cloud DNS, and words its refusals. */
import { type CloudCall, GoogleError, type JsonObject, type World } from '../kernel/api.js';
import { numberOf, objectsOf } from '../kernel/json-fields.js';
import { pageOf } from '../kernel/pages.js';
import { keyOf, type Records } from './records.js';

export const service = 'dns.googleapis.com';

export interface ZoneRecord {
  resource: JsonObject;
  /** Record sets by `<name> <type>`. */
  records: Records;
  changes: Record<string, JsonObject>;
  /** The id of the next change. Change 0 made the zone. */
  nextChange: number;
  operations: Record<string, JsonObject>;
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

export const invalidValue = (field: string, value: string): GoogleError =>
  new GoogleError(400, 'INVALID_ARGUMENT', `Invalid value for '${field}': '${value}'`, { reason: 'invalid' });

export const requiredField = (field: string): GoogleError =>
  new GoogleError(400, 'INVALID_ARGUMENT', `The '${field}' parameter is required but was missing.`, {
    reason: 'required',
  });

interface Found {
  readonly path: string;
  readonly zone: ZoneRecord;
}

export function projectOf(call: CloudCall, world: World): string {
  const given = call.params['project'] ?? (call.params['resource'] ?? '').split('/')[1] ?? '';
  const writes = /\.(create|patch|update|delete)$/.test(call.method);
  return world.project(given, { service, billing: writes }).projectId;
}

export function pathOf(call: CloudCall, world: World): string {
  const name = call.params['managedZone'] ?? (call.params['resource'] ?? '').split('/')[3] ?? '';
  return `projects/${projectOf(call, world)}/managedZones/${name}`;
}

/** Finds a zone by name or by numeric id. */
export function find(call: CloudCall, world: World): Found {
  const path = pathOf(call, world);
  const name = path.slice(path.lastIndexOf('/') + 1);
  const direct = zones(world)[path];
  if (direct !== undefined) return { path, zone: direct };
  for (const [at, zone] of Object.entries(zones(world))) {
    if (zone.resource['id'] === name && at.startsWith(path.slice(0, -name.length))) return { path: at, zone };
  }
  throw missing('parameters.managedZone', name);
}

export const paged = (
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
