/**
 * Declares a collection of resources with names such as `projects/p/locations/l/jobs/j`. The verbs are the same for all. A form
 * holds what is particular to one: its words, its checks, and what it does besides.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Access, ApiDefinition, CloudCall, Effect, GoogleError, Handler, JsonObject, World } from './api.js';
import { maskOf, withFields } from './field-mask.js';
import { objectOf, textOf } from './json-fields.js';
import { beginOperation, endOperation, typed } from './long-running.js';
import { pageReply } from './pages.js';
import { permissionOf } from './permission-names.js';
import { readPolicy, testPermissions, writePolicy } from './policy-methods.js';

/** What a call is about: a collection, or one resource in it. */
export interface Place {
  /** With the project's id: `projects/p/secrets/s`. Records, policies and grants go by it. */
  readonly path: string;
  /** The same with the project's number. */
  readonly numbered: string;
  /** The path of what holds the collection: `projects/p`. */
  readonly parent: string;
  /** Empty if the call is about the collection. */
  readonly id: string;
}

export interface Found<T> extends Place {
  readonly record: T;
}

type PolicyVerb = 'getIamPolicy' | 'setIamPolicy' | 'testIamPermissions';

export interface Form<T> {
  /** What its method ids begin with: `secretmanager.projects.secrets`. The last word is the collection's name in paths. */
  readonly methods: string;
  /** The table of its records, by path. */
  readonly table: string;
  /** The resource of a record as clients see it. Default: the record itself. */
  readonly shown?: (record: T, path: string) => JsonObject;
  /** The refusal of a resource that does not exist. */
  readonly missing: (place: Place) => GoogleError;
  /** Refuses a parent, such as an unknown location. */
  readonly checkParent?: (place: Place, call: CloudCall) => void;
  /** Another name of a resource, such as its number: returns the path it stands for. */
  readonly alias?: (path: string, world: World) => string | undefined;
  /** The verbs that need a billing account. */
  readonly billed?: readonly string[];
  readonly etag?: {
    readonly fresh: (world: World) => string;
    /** Throws if the etag of a call is not the current one. */
    readonly check: (given: string, current: string) => void;
  };
  readonly create?: {
    /** The checked id of a new resource. Left out where the path names it. */
    readonly id?: (call: CloudCall, parent: Place, world: World) => string;
    readonly exists: (place: Place) => GoogleError;
    /** Returns the record of a new resource, or throws a refusal. */
    readonly make: (place: Place, call: CloudCall, world: World) => T;
  };
  readonly list?: {
    /** The field of the reply that holds the resources. */
    readonly field: string;
    /** What the reply holds besides: `{ kind: 'dns#managedZonesListResponse' }`. */
    readonly besides?: (total: number) => JsonObject;
    /** The size of a page, if the call's own is not taken as it is. */
    readonly size?: (call: CloudCall) => number;
    /** Reads the call's filter. */
    readonly keeps?: (call: CloudCall, world: World) => (resource: JsonObject, path: string) => boolean;
  };
  readonly patch?: {
    /** The fields that can change. */
    readonly fields: readonly string[];
    /** The refusal of another field. */
    readonly fixed: (field: string) => GoogleError;
    /** The refusal of a call without a mask. Without this, such a call changes the fields of its body. */
    readonly noMask?: () => GoogleError;
    /** The field of the body that holds the resource, if that is not the body itself. */
    readonly within?: string;
    /** Checks the changed resource, and keeps it. */
    readonly write: (at: Found<T>, changed: JsonObject, call: CloudCall, world: World) => void;
  };
  readonly delete?: {
    /** Refuses a deletion. */
    readonly check?: (at: Found<T>, world: World) => void;
    /** Removes what goes with the resource. */
    readonly deleted?: (path: string, world: World) => void;
  };
  /** The methods about policies that are served, or all. */
  readonly policies?: true | readonly PolicyVerb[];
  /** Verbs of its own on one resource. */
  readonly verbs?: Readonly<Record<string, (at: Found<T>, call: CloudCall, world: World) => ReturnType<Handler>>>;
  /** For a collection whose resources come and go in long-running operations, and not at once. */
  readonly operations?: {
    /** How long they take, in cloud seconds. */
    readonly seconds: number;
    readonly begin: (place: Place, world: World) => { readonly name: string; readonly metadata: JsonObject };
    /** The type of the resource in the response. */
    readonly type: string;
  };
}

/** A part of an API: what one collection serves, or methods of another kind. */
export type Part = Pick<ApiDefinition, 'handlers' | 'access' | 'effects'>;

export interface Collection<T> extends Required<Part> {
  readonly records: (world: World) => Record<string, T>;
  /** What a call is about. Throws the refusals of its project and parent. */
  readonly placeIn: (call: CloudCall, world: World) => Place;
  /** The resource that a call names. Throws the refusal of one that does not exist. */
  readonly find: (call: CloudCall, world: World) => Found<T>;
}

/** An API's methods from its parts. */
export const joined = (...parts: readonly Part[]): Required<Part> => ({
  handlers: Object.assign({}, ...parts.map(({ handlers }) => handlers)),
  access: Object.assign({}, ...parts.map(({ access }) => access)),
  effects: Object.assign({}, ...parts.map(({ effects }) => effects)),
});

export function defineCollection<T extends object = JsonObject>(form: Form<T>): Collection<T> {
  const basis = basisOf(form);
  const verbs: Record<string, Handler> = {
    get: (call, world) => basis.shown(basis.find(call, world)),
    ...(form.create === undefined ? {} : { create: createOf(form, basis, form.create) }),
    ...(form.list === undefined ? {} : { list: listOf(basis, form.list) }),
    ...(form.patch === undefined ? {} : { patch: patchOf(form, basis, form.patch) }),
    ...(form.delete === undefined ? {} : { delete: deleteOf(form, basis, form.delete) }),
    ...policiesOf(basis, form.policies),
    ...Object.fromEntries(
      Object.entries(form.verbs ?? {}).map(([verb, handler]): [string, Handler] => [
        verb,
        (call, world) => handler(basis.find(call, world), call, world),
      ]),
    ),
  };
  const named = Object.entries(verbs).map(([verb, handler]) => [`${form.methods}.${verb}`, handler] as const);
  return {
    ...basis,
    handlers: Object.fromEntries(named),
    access: Object.fromEntries(named.map(([method]) => [method, accessOf(method, basis)])),
    effects: form.operations === undefined ? {} : effectsOf(form, basis, form.operations),
  };
}

// --- names ----------------------------------------------------------------------------------------------------------

interface Basis<T> extends Pick<Collection<T>, 'records' | 'placeIn' | 'find'> {
  /** The place that a call names, before anything is checked. */
  readonly named: (call: CloudCall, world: World) => Place;
  readonly shown: (at: Pick<Found<T>, 'record' | 'path'>) => JsonObject;
}

function basisOf<T extends object>(form: Form<T>): Basis<T> {
  const { methods, table, alias, billed = [], checkParent, missing } = form;
  const collection = methods.slice(methods.lastIndexOf('.') + 1);
  const needsBilling = new Set(billed.map((verb) => `${methods}.${verb}`));
  const records = (world: World): Record<string, T> => world.table<T>(table);
  const named = (call: CloudCall, world: World): Place => {
    const place = placeOf(call.resource, collection, world);
    const path = records(world)[place.path] === undefined ? alias?.(place.path, world) : undefined;
    return path === undefined ? place : placeOf(path, collection, world);
  };
  const placeIn = (call: CloudCall, world: World): Place => {
    const place = named(call, world);
    if (needsBilling.has(call.method)) world.project(place.path.split('/')[1] ?? '', { billing: true });
    checkParent?.(place, call);
    return place;
  };
  return {
    records,
    named,
    placeIn,
    find(call, world) {
      const place = placeIn(call, world);
      const record = records(world)[place.path];
      if (record === undefined) throw missing(place);
      return { ...place, record };
    },
    shown: ({ record, path }) => form.shown?.(record, path) ?? (record as JsonObject),
  };
}

/** `projects/-` stands for any project, and is not looked up. */
function placeOf(resource: string, collection: string, world: World): Place {
  const segments = resource.split('/');
  const at = segments.findIndex((segment, index) => index > 0 && index % 2 === 0 && segment === collection);
  const [kind = '', name = '', ...rest] = segments.slice(0, at);
  const project = kind === 'projects' && name !== '-' ? world.project(name) : undefined;
  const id = segments[at + 1] ?? '';
  const ending = id === '' ? [collection] : [collection, id];
  const parent = [kind, project?.projectId ?? name, ...rest].join('/');
  return {
    path: [parent, ...ending].join('/'),
    numbered: [kind, project?.projectNumber ?? name, ...rest, ...ending].join('/'),
    parent,
    id,
  };
}

/** Who creates or lists needs the permission on the parent, and nobody needs one to ask for permissions. */
const accessOf =
  (method: string, { named }: Pick<Basis<object>, 'named'>) =>
  (call: CloudCall, world: World): readonly Access[] => {
    if (method.endsWith('.testIamPermissions')) return [];
    const { path, parent } = named(call, world);
    return [{ permission: permissionOf(method), resource: /\.(create|list)$/.test(method) ? parent : path }];
  };

// --- verbs ----------------------------------------------------------------------------------------------------------

const createOf =
  <T extends object>(form: Form<T>, basis: Basis<T>, create: NonNullable<Form<T>['create']>): Handler =>
  (call, world) => {
    const parent = basis.placeIn(call, world);
    const id = create.id?.(call, parent, world);
    const place = id === undefined ? parent : beneath(parent, id);
    const { path } = place;
    const records = form.operations === undefined ? basis.records(world) : underWay<T>(form, world);
    if (basis.records(world)[path] !== undefined || records[path] !== undefined) throw create.exists(place);
    const record = create.make(place, call, world);
    records[path] = record;
    if (form.operations !== undefined) return begin(form, form.operations, place, 'created', world);
    return basis.shown({ path, record });
  };

const beneath = (parent: Place, id: string): Place => ({
  ...parent,
  path: `${parent.path}/${id}`,
  numbered: `${parent.numbered}/${id}`,
  id,
});

const listOf =
  <T extends object>(basis: Basis<T>, { field, besides, size, keeps }: NonNullable<Form<T>['list']>): Handler =>
  (call, world) => {
    const { path } = basis.placeIn(call, world);
    const within = pathsWithin(path);
    const kept = keeps?.(call, world) ?? (() => true);
    const found = Object.entries(basis.records(world))
      .filter(([at]) => within(at))
      .map(([at, record]) => [at, basis.shown({ path: at, record })] as const)
      .filter(([at, resource]) => kept(resource, at));
    return { ...besides?.(found.length), ...pageReply(call, field, found, size?.(call)) };
  };

/** `-` in the path of a collection stands for any name. */
function pathsWithin(collection: string): (path: string) => boolean {
  const start = `${collection}/`;
  if (!start.includes('/-/')) return (path) => path.startsWith(start);
  const wanted = collection.split('/');
  return (path) => {
    const segments = path.split('/');
    return (
      segments.length === wanted.length + 1 && wanted.every((name, index) => name === '-' || name === segments[index])
    );
  };
}

const patchOf =
  <T extends object>(form: Form<T>, basis: Basis<T>, patch: NonNullable<Form<T>['patch']>): Handler =>
  (call, world) => {
    const found = basis.find(call, world);
    const current = basis.shown(found);
    const body = patch.within === undefined ? call.body : (objectOf(call.body[patch.within]) ?? {});
    checkEtag(form, textOf(body['etag']), current);
    const mask = maskOf(call);
    if (mask === undefined && patch.noMask !== undefined) throw patch.noMask();
    const differing = Object.keys(body).filter((field) => !isDeepStrictEqual(body[field], current[field]));
    const fields = mask?.includes('*') ? patch.fields : (mask ?? differing);
    const fixed = fields.find((field) => !patch.fields.includes(field.split('.')[0] ?? ''));
    if (fixed !== undefined) throw patch.fixed(fixed);
    const changed = withFields(current, body, fields);
    if (form.etag !== undefined) changed['etag'] = form.etag.fresh(world);
    patch.write(found, changed, call, world);
    return basis.shown(basis.find(call, world));
  };

function checkEtag<T>({ etag }: Form<T>, given: string | undefined, current: JsonObject): void {
  if (given !== undefined && given !== '') etag?.check(given, String(current['etag']));
}

const deleteOf =
  <T extends object>(form: Form<T>, basis: Basis<T>, { check }: NonNullable<Form<T>['delete']>): Handler =>
  (call, world) => {
    const found = basis.find(call, world);
    checkEtag(form, call.params['etag'], basis.shown(found));
    check?.(found, world);
    if (form.operations !== undefined) return begin(form, form.operations, found, 'deleted', world);
    remove(form, basis, found.path, world);
    return {};
  };

function remove<T extends object>(form: Form<T>, { records }: Basis<T>, path: string, world: World): void {
  delete records(world)[path];
  world.policies.remove(path);
  form.delete?.deleted?.(path, world);
}

function policiesOf(
  { find }: Pick<Basis<object>, 'find'>,
  verbs: Form<object>['policies'] = [],
): Readonly<Record<string, Handler>> {
  const all: Readonly<Record<PolicyVerb, Handler>> = {
    getIamPolicy: (call, world) => readPolicy(call, world, find(call, world).path),
    setIamPolicy: (call, world) => writePolicy(call, world, find(call, world).path),
    testIamPermissions: (call, world) => testPermissions(call, world, find(call, world).path),
  };
  return verbs === true ? all : Object.fromEntries(verbs.map((verb) => [verb, all[verb]]));
}

// --- long-running operations ----------------------------------------------------------------------------------------

type Operations<T> = NonNullable<Form<T>['operations']>;

/** Resources that are being created, by path. */
const underWay = <T>({ table }: Pick<Form<T>, 'table'>, world: World): Record<string, T> =>
  world.table<T>(`${table}.underWay`);

function begin<T>(
  form: Form<T>,
  operations: Operations<T>,
  place: Place,
  ending: 'created' | 'deleted',
  world: World,
): JsonObject {
  const { name, metadata } = operations.begin(place, world);
  world.schedule(operations.seconds, `${form.methods}.${ending}`, { name, path: place.path });
  return beginOperation(world, name, metadata);
}

function effectsOf<T extends object>(
  form: Form<T>,
  basis: Basis<T>,
  { type }: Operations<T>,
): Readonly<Record<string, Effect>> {
  const end = (response: (path: string, world: World) => JsonObject): Effect => {
    return (args, world) =>
      endOperation(world, String(args['name']), { response: response(String(args['path']), world) });
  };
  return {
    [`${form.methods}.created`]: end((path, world) => {
      const record = underWay<T>(form, world)[path];
      if (record === undefined) return {};
      basis.records(world)[path] = record;
      delete underWay<T>(form, world)[path];
      return typed(type, basis.shown({ path, record }));
    }),
    [`${form.methods}.deleted`]: end((path, world) => {
      remove(form, basis, path, world);
      return typed('google.protobuf.Empty', {});
    }),
  };
}
