/** Declares a collection of compute's resources. The verbs are the same for all. A form holds what is particular to one. */
import type { CloudCall, Effect, Handler, JsonObject, Served, World } from '../kernel/api.js';
import { textOf } from '../kernel/json-fields.js';
import { checkFits } from './fits.js';
import { begin, beginDelete, ending, type Failure, once } from './operations.js';
import { checkQuota, type Metric } from './quotas.js';
import {
  aggregatedReply,
  type Collection,
  checkLabels,
  conditionNotMet,
  find,
  findReady,
  fingerprint,
  freshPath,
  type Held,
  held,
  hold,
  listReply,
  type Place,
  placeOf,
  sameFingerprint,
} from './resources.js';

/** A resource about to be made: its free path, and its place. */
export interface Wanted {
  readonly call: CloudCall;
  readonly path: string;
  readonly place: Place;
}

/** A resource that exists. */
export interface Found {
  readonly path: string;
  readonly found: Held;
  readonly place: Place;
}

export type Change = (at: Found, body: JsonObject, world: World) => JsonObject;

export interface Form {
  readonly of: Collection;
  /** The collection's names in method ids, if they differ from its own. */
  readonly methodNames?: readonly string[];
  /** The scope of its resources. None means global. Aggregated lists use it. */
  readonly scope?: 'region' | 'zone';
  /** The quota that each resource counts against. */
  readonly quota?: Metric;
  /** Cloud seconds that a change takes. Default: 10. */
  readonly seconds?: { readonly insert?: number; readonly change?: number; readonly delete?: number };
  /** Returns the resource that an insert makes, or throws a refusal. */
  readonly make?: (wanted: Wanted, world: World) => JsonObject;
  /** Called when a resource becomes usable. */
  readonly made?: (found: Held, world: World) => void;
  /** Returns the resource after a change, by verb. `patch` merges the body into the resource, `update` replaces it. */
  readonly changes?: Readonly<Record<string, Change>>;
  /** The operation types of changes that differ from the verb. */
  readonly operationTypes?: Readonly<Record<string, string>>;
  /** Refuses a deletion at once. */
  readonly beforeDelete?: (at: Found, world: World) => void;
  /** Why a deletion fails in its operation. Undefined lets it pass. */
  readonly keeps?: (path: string, found: Held, world: World) => Failure | undefined;
  readonly deleted?: (path: string, found: Held, world: World) => void;
  /** The resource as clients see it, if that differs from the stored one. */
  readonly shown?: (path: string, resource: JsonObject) => JsonObject;
  /** Called before a call that looks for resources. */
  readonly beforeLook?: (call: CloudCall, world: World) => void;
}

export function defineCollection(form: Form): Served {
  const { of, methodNames = [of.name] } = form;
  const verbs = {
    ...(form.make === undefined ? {} : { insert: once(insertOf(form, form.make)) }),
    ...changesOf(form),
    ...looksOf(form),
    delete: looking(form, once(deleteOf(form))),
  };
  const handlers = methodNames.flatMap((name) =>
    Object.entries<Handler>(verbs).map(([verb, handler]) => [`compute.${name}.${verb}`, handler] as const),
  );
  const aggregated =
    form.scope === undefined ? {} : { [`compute.${of.name}.aggregatedList`]: aggregatedOf(form, form.scope) };
  return { handlers: { ...Object.fromEntries(handlers), ...aggregated }, effects: effectsOf(form) };
}

/** Stores a new resource and begins the operation that makes it. */
export function beginInsert(
  call: CloudCall,
  world: World,
  place: Place,
  {
    of,
    path,
    resource,
    seconds = 10,
    type = 'insert',
  }: {
    readonly of: Collection;
    readonly path: string;
    readonly resource: JsonObject;
    readonly seconds?: number | undefined;
    readonly type?: string;
  },
): JsonObject {
  checkFits(of, resource);
  hold(world, of, path, { phase: 'making', resource });
  return begin(call, world, place, {
    type,
    target: path,
    targetId: String(resource['id']),
    seconds,
    effect: `compute.${of.name}.inserted`,
  });
}

const insertOf =
  ({ of, quota, seconds }: Form, make: NonNullable<Form['make']>): Handler =>
  (call, world) => {
    const place = placeOf(call, world);
    const path = freshPath(call.body, place, world, of);
    if (quota !== undefined) checkQuota(world, place, quota);
    const resource = make({ call, path, place }, world);
    return beginInsert(call, world, place, { of, path, resource, seconds: seconds?.insert });
  };

const changesOf = (form: Form): Readonly<Record<string, Handler>> => {
  const { of, changes = {}, operationTypes = {}, seconds } = form;
  return Object.fromEntries(
    Object.entries(changes).map(([verb, change]) => [
      verb,
      looking(
        form,
        once((call, world) => {
          const at = findReady(call, world, of);
          at.found.resource = change(at, call.body, world);
          return begin(call, world, at.place, {
            type: operationTypes[verb] ?? verb,
            target: at.path,
            targetId: String(at.found.resource['id']),
            seconds: seconds?.change ?? 10,
            effect: 'compute.done',
          });
        }),
      ),
    ]),
  );
};

/** The change of `setLabels`. Its fingerprint says which labels the caller has read. */
export const relabelled: Change = ({ found: { resource } }, body) => {
  if (!sameFingerprint(textOf(body['labelFingerprint']), resource['labelFingerprint'])) {
    throw conditionNotMet('Labels fingerprint either invalid or resource labels have changed');
  }
  const { labels: _labels, ...rest } = resource;
  const labels = checkLabels(body['labels'], 'labels');
  return {
    ...rest,
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    labelFingerprint: fingerprint(labels),
  };
};

const deleteOf =
  ({ of, beforeDelete, seconds }: Form): Handler =>
  (call, world) => {
    const at = findReady(call, world, of);
    beforeDelete?.(at, world);
    return beginDelete(call, world, at, of, seconds?.delete);
  };

/** The verbs that change nothing. */
export const looksOf = (
  form: Pick<Form, 'of' | 'shown' | 'beforeLook'>,
): { readonly get: Handler; readonly list: Handler } => ({
  get: looking(form, (call, world) => {
    const { path, found } = find(call, world, form.of);
    return form.shown?.(path, found.resource) ?? found.resource;
  }),
  list: looking(form, (call, world) => listReply(call, world, form.of, form.shown)),
});

const aggregatedOf = (form: Form, scope: 'region' | 'zone'): Handler =>
  looking(form, (call, world) => aggregatedReply(call, world, form.of, scope));

const looking =
  ({ beforeLook }: Pick<Form, 'beforeLook'>, handler: Handler): Handler =>
  (call, world) => {
    beforeLook?.(call, world);
    return handler(call, world);
  };

const effectsOf = ({ of, made, keeps, deleted }: Form): Readonly<Record<string, Effect>> => ({
  [`compute.${of.name}.inserted`]: ending((path, _args, world) => {
    const found = held(world, of)[path];
    if (found === undefined) return undefined;
    found.phase = 'ready';
    made?.(found, world);
    return undefined;
  }),
  [`compute.${of.name}.deleted`]: ending((path, _args, world) => {
    const found = held(world, of)[path];
    if (found === undefined) return undefined;
    const failure = keeps?.(path, found, world);
    if (failure !== undefined) {
      found.phase = 'ready';
      return failure;
    }
    delete held(world, of)[path];
    deleted?.(path, found, world);
    return undefined;
  }),
});
