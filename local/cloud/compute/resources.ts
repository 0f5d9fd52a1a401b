/** Stores, names, finds and lists compute's resources, and words its refusals. */
import { createHash } from 'node:crypto';
import {
  type CloudCall,
  GoogleError,
  type Json,
  type JsonObject,
  type ProjectRecord,
  type World,
} from '../kernel/api.js';
import { labelsOf, numberOf, textOf } from '../kernel/json-fields.js';
import { pageOf } from '../kernel/pages.js';
import { regionOf, regions, zones } from '../kernel/places.js';
import { readFilter, schemaName } from './filter.js';
import { entriesOf, put } from './of-project.js';

export const computeService = 'compute.googleapis.com';
const linkBase = 'https://www.googleapis.com/compute/v1/';

export type Scope = 'region' | 'zone';

export interface Collection {
  /** The name in paths, and the field of a scoped list: `instances`. */
  readonly name: string;
  /** The name of the path parameter: `instance`. */
  readonly singular: string;
  /** `compute#instance`. */
  readonly kind: string;
  /** Whether some of its resources are global and some are not. Aggregated lists show both. */
  readonly isAlsoGlobal?: boolean;
}

export const collections = {
  networks: { name: 'networks', singular: 'network', kind: 'compute#network' },
  subnetworks: { name: 'subnetworks', singular: 'subnetwork', kind: 'compute#subnetwork' },
  firewalls: { name: 'firewalls', singular: 'firewall', kind: 'compute#firewall' },
  routers: { name: 'routers', singular: 'router', kind: 'compute#router' },
  addresses: { name: 'addresses', singular: 'address', kind: 'compute#address' },
  instances: { name: 'instances', singular: 'instance', kind: 'compute#instance' },
  disks: { name: 'disks', singular: 'disk', kind: 'compute#disk' },
  forwardingRules: {
    name: 'forwardingRules',
    singular: 'forwardingRule',
    kind: 'compute#forwardingRule',
    isAlsoGlobal: true,
  },
} as const satisfies Record<string, Collection>;

/** A resource in the state. It is `making` until its insert is done: visible, but not usable. */
export interface Held {
  resource: JsonObject;
  phase: 'making' | 'ready' | 'leaving';
}

/** A resource that exists, with its place. */
export interface Found {
  readonly path: string;
  readonly found: Held;
  readonly place: Place;
}

export const held = (world: World, collection: Collection): Record<string, Held> =>
  world.table<Held>(`compute.${collection.name}`);

/** The resources of one project. */
export const heldIn = (world: World, collection: Collection, projectId: string): [path: string, one: Held][] =>
  entriesOf(held(world, collection), projectId);

/** Stores a resource. */
export const hold = (world: World, collection: Collection, path: string, one: Held): void =>
  put(held(world, collection), path, one);

// --- places ---------------------------------------------------------------------------------------------------------

export interface Place {
  readonly project: ProjectRecord;
  /** `global`, `regions/europe-west4`, `zones/europe-west4-a`. */
  readonly scope: string;
  /** `projects/<id>/<scope>`. */
  readonly prefix: string;
  readonly region: string | undefined;
  readonly zone: string | undefined;
}

/** The project and scope of a call. Methods that change something need billing. */
export function placeOf(call: CloudCall, world: World): Place {
  const writes = !/\.(get|list|aggregatedList|wait|get[A-Z]\w*)$/.test(call.method);
  const project = world.project(call.params['project'] ?? '', { service: computeService, billing: writes });
  const { region, zone } = call.params;
  if (region !== undefined && !regions.includes(region)) throw invalid('region', region, 'Unknown region.');
  if (zone !== undefined && !zones.includes(zone)) throw invalid('zone', zone, 'Unknown zone.');
  const scope = zone !== undefined ? `zones/${zone}` : region !== undefined ? `regions/${region}` : 'global';
  return {
    project,
    scope,
    prefix: `projects/${project.projectId}/${scope}`,
    region: region ?? (zone && regionOf(zone)),
    zone,
  };
}

export const link = (path: string): string => linkBase + path;

/** The path `projects/p/zones/z/instances/i` of a link or a path. */
export const unlink = (url: string): string => url.replace(/^.*?\/compute\/(?:v1|beta)\//, '');

export const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/**
 * The path that a reference in a body means: a full URL on any host, `projects/…`, or a path that begins with the scope.
 * Project numbers become ids.
 */
export function pathOf(reference: string, field: string, place: Place, world: World): string {
  const path = unlink(reference);
  const full = path.startsWith('projects/') ? path : `projects/${place.project.projectId}/${path}`;
  const match = /^projects\/([^/]+)\/((?:global|regions\/[^/]+|zones\/[^/]+)\/.+)$/.exec(full);
  if (match === null || /^[a-z]+:/i.test(path)) throw invalid(field, reference, 'The URL is malformed.');
  const [, project = '', rest = ''] = match;
  if (project === place.project.projectId) return full;
  if (/^\d+$/.test(project)) return `projects/${world.project(project).projectId}/${rest}`;
  return full;
}

// --- finding --------------------------------------------------------------------------------------------------------

/** The resource a call names, by name or by numeric id. */
export function find(call: CloudCall, world: World, collection: Collection): Found {
  const place = placeOf(call, world);
  const wanted = call.params[collection.singular] ?? call.params['resource'] ?? '';
  const path = `${place.prefix}/${collection.name}/${wanted}`;
  const table = held(world, collection);
  const direct = table[path];
  if (direct !== undefined) return { path, found: direct, place };
  if (/^\d+$/.test(wanted)) {
    for (const [at, one] of heldIn(world, collection, place.project.projectId)) {
      if (one.resource['id'] === wanted && at.startsWith(`${place.prefix}/`)) return { path: at, found: one, place };
    }
  }
  throw notFound(path);
}

/** Like `find`, for a change: refuses a resource that is being made or removed. */
export function findReady(call: CloudCall, world: World, collection: Collection): Found {
  const at = find(call, world, collection);
  if (at.found.phase !== 'ready') throw notReady(at.path);
  return at;
}

/** A resource that another one refers to. Refuses one that is being made or removed. */
export function readyAt(path: string, collection: Collection, world: World): Held {
  const found = held(world, collection)[path];
  if (found === undefined) throw notFound(path);
  if (found.phase !== 'ready') throw notReady(path);
  return found;
}

/** What a field of a forwarding rule refers to: a resource of its region. */
export function referred(
  reference: string | undefined,
  field: string,
  collection: Collection,
  place: Place,
  world: World,
): { path: string; found: Held } {
  if (reference === undefined || reference === '') throw required(field);
  const path = pathOf(reference, field, place, world);
  const found = readyAt(path, collection, world);
  if (!path.startsWith(`${place.prefix}/`)) {
    throw invalid(field, reference, 'It must be in the region of the forwarding rule.');
  }
  return { path, found };
}

/** The path for the name in a body. Throws if it is taken. */
export function freshPath(body: JsonObject, place: Place, world: World, collection: Collection): string {
  const name = textOf(body['name']);
  if (name === undefined || name === '') throw required('resource.name');
  checkName(name, 'resource.name');
  const path = `${place.prefix}/${collection.name}/${name}`;
  if (held(world, collection)[path] !== undefined) throw alreadyExists(path);
  return path;
}

export function checkName(name: string, field: string): void {
  if (!/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) {
    throw invalid(field, name, "Must be a match of regex '(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)'");
  }
}

export function checkLabels(value: Json | undefined, field = 'resource.labels'): Record<string, string> {
  const labels = labelsOf(value);
  for (const [key, text] of Object.entries(labels)) {
    if (!/^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u.test(key)) {
      throw invalid(field, key, 'Label keys must begin with a lower-case letter and hold at most 63 characters.');
    }
    if (!/^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u.test(text)) {
      throw invalid(
        `${field}.${key}`,
        text,
        'Label values hold lower-case letters, digits, dashes and underscores, at most 63.',
      );
    }
  }
  return labels;
}

/** The fields that the server sets on every resource. */
export function serverFields(path: string, collection: Collection, world: World): JsonObject {
  return {
    kind: collection.kind,
    id: world.id(),
    creationTimestamp: stamp(world.now()),
    selfLink: link(path),
  };
}

/** Google writes times in compute as Pacific time. */
export const stamp = (milliseconds: number): string =>
  new Date(milliseconds - 8 * 3_600_000).toISOString().replace('Z', '-08:00');

/** The fingerprint is a hash of the value it guards. */
export const fingerprint = (value: Json | undefined): string =>
  createHash('sha256')
    .update(JSON.stringify(value ?? null))
    .digest()
    .subarray(0, 8)
    .toString('base64');

/** Clients may write base64 in its URL-safe form. */
export const sameFingerprint = (given: string | undefined, current: Json | undefined): boolean =>
  given !== undefined && Buffer.from(given, 'base64').equals(Buffer.from(textOf(current) ?? '', 'base64'));

// --- lists ----------------------------------------------------------------------------------------------------------

export function listReply(
  call: CloudCall,
  world: World,
  collection: Collection,
  shown: (path: string, resource: JsonObject) => JsonObject = (_path, resource) => resource,
): JsonObject {
  const place = placeOf(call, world);
  const mine = heldIn(world, collection, place.project.projectId);
  const inside = mine.filter(([path]) => path.startsWith(`${place.prefix}/`));
  const all = inside.map(([path, { resource }]) => [path, shown(path, resource)] as const);
  return listOf(call, `${place.prefix}/${collection.name}`, `${collection.kind}List`, all);
}

/** A list reply over any entries, with Google's filter and paging. */
export function listOf(
  call: CloudCall,
  path: string,
  kind: string,
  entries: readonly (readonly [string, JsonObject])[],
): JsonObject {
  const page = pageOf(wanted(call, kind.replace(/List$/, ''), entries), pageSize(call), call.params['pageToken']);
  return {
    kind,
    id: path,
    selfLink: link(path),
    ...(page.items.length === 0 ? {} : { items: page.items }),
    ...(page.nextPageToken === undefined ? {} : { nextPageToken: page.nextPageToken }),
  };
}

/** The entries that the filter keeps, by keys whose order is the wanted one. */
function wanted(
  call: CloudCall,
  kind: string,
  entries: readonly (readonly [string, JsonObject])[],
): (readonly [string, JsonObject])[] {
  const { filter, orderBy = '' } = call.params;
  const keeps = readFilter(filter, schemaName(kind));
  const kept = entries.filter(([, resource]) => keeps(resource));
  if (orderBy === '' || orderBy === 'name') return kept;
  if (orderBy !== 'creationTimestamp desc') throw invalid('orderBy', orderBy, 'Invalid sort expression.');
  // The newest comes first, so the key counts backwards.
  const age = (resource: JsonObject): string =>
    String(9e15 - Date.parse(textOf(resource['creationTimestamp']) ?? '1970-01-01')).padStart(16, '0');
  return kept.map(([key, resource]) => [`${age(resource)} ${key}`, resource] as const);
}

/** Lists every scope. An empty scope carries a warning. */
export function aggregatedReply(call: CloudCall, world: World, collection: Collection, scope: Scope): JsonObject {
  const place = placeOf(call, world);
  const root = `projects/${place.project.projectId}/`;
  const all = heldIn(world, collection, place.project.projectId);
  const entries = all.map(([path, { resource }]) => [path, resource] as const);
  return aggregatedOf(call, `${root}aggregated/${collection.name}`, collection, scope, entries);
}

export function aggregatedOf(
  call: CloudCall,
  path: string,
  collection: Collection,
  scope: Scope,
  entries: readonly (readonly [string, JsonObject])[],
): JsonObject {
  const page = pageOf(
    wanted(call, collection.kind, entries).map(([at, resource]) => [at, { at, resource }] as const),
    pageSize(call),
    call.params['pageToken'],
  );
  const scopes = [
    ...(scope === 'zone' ? zones.map((zone) => `zones/${zone}`) : regions.map((region) => `regions/${region}`)),
    ...(collection.isAlsoGlobal === true ? ['global'] : []),
  ];
  const items: JsonObject = {};
  for (const one of scopes) {
    const mine = page.items.filter(({ at }) => at.split('/').slice(2, -2).join('/') === one);
    items[one] =
      mine.length > 0
        ? { [collection.name]: mine.map(({ resource }) => resource) }
        : {
            warning: {
              code: 'NO_RESULTS_ON_PAGE',
              message: `There are no results for scope '${one}' on this page.`,
              data: [{ key: 'scope', value: one }],
            },
          };
  }
  return {
    kind: `${collection.kind}AggregatedList`,
    id: path,
    selfLink: link(path),
    items,
    ...(page.nextPageToken === undefined ? {} : { nextPageToken: page.nextPageToken }),
  };
}

function pageSize(call: CloudCall): number {
  const size = numberOf(call.params['maxResults']) ?? 500;
  if (size < 0 || size > 500) throw invalid('maxResults', String(size), 'Values must be within the range of [0, 500]');
  return size === 0 ? 500 : size;
}

// --- refusals -------------------------------------------------------------------------------------------------------

export const notFound = (path: string): GoogleError =>
  new GoogleError(404, 'NOT_FOUND', `The resource '${path}' was not found`, { reason: 'notFound' });

export const alreadyExists = (path: string): GoogleError =>
  new GoogleError(409, 'ALREADY_EXISTS', `The resource '${path}' already exists`, { reason: 'alreadyExists' });

export const notReady = (path: string): GoogleError =>
  new GoogleError(400, 'FAILED_PRECONDITION', `The resource '${path}' is not ready`, { reason: 'resourceNotReady' });

export const inUse = (noun: string, path: string, by: string): GoogleError =>
  new GoogleError(400, 'FAILED_PRECONDITION', inUseText(noun, path, by), { reason: 'resourceInUseByAnotherResource' });

export const inUseText = (noun: string, path: string, by: string): string =>
  `The ${noun} resource '${path}' is already being used by '${by}'`;

export const invalid = (field: string, value: string, why: string): GoogleError =>
  new GoogleError(400, 'INVALID_ARGUMENT', `Invalid value for field '${field}': '${value}'. ${why}`, {
    reason: 'invalid',
  });

export const required = (field: string): GoogleError =>
  new GoogleError(400, 'INVALID_ARGUMENT', `Required field '${field}' not specified`, { reason: 'required' });

export const conditionNotMet = (message: string): GoogleError =>
  new GoogleError(412, 'FAILED_PRECONDITION', message, { reason: 'conditionNotMet' });

export const quotaExceeded = (message: string): GoogleError =>
  new GoogleError(403, 'PERMISSION_DENIED', message, { reason: 'quotaExceeded' });
