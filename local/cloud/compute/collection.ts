/** Declares a collection of compute's resources. The verbs are the same for all. A form holds what is particular to one. */
import type { CloudCall, Effect, Handler, JsonObject, Served, World } from '../kernel/api.js';
import { textOf } from '../kernel/json-fields.js';
import { faultsOfResource } from '../kernel/reply-check.js';
import { surfaceOf } from '../kernel/surface.js';
import { delayOf } from '../worlds/settings.js';
import type { DelayName } from '../worlds/table.js';
import { schemaName } from './filter.js';
import { beginOn, ending, type Failure, once } from './operations.js';
import { checkQuota, type Metric } from './quotas.js';
import {
  aggregatedReply,
  type Collection,
  checkLabels,
  conditionNotMet,
  type Found,
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
  type Scope,
  sameFingerprint,
} from './resources.js';

export type { Found } from './resources.js';

/** A resource about to be made: its free path, and its place. */
export interface Wanted {
  readonly call: CloudCall;
  readonly path: string;
  readonly place: Place;
}

/** Returns the resource after a change. Throws if it is refused. */
export type Change = (at: Found, body: JsonObject, world: World, params: CloudCall['params']) => JsonObject;

/** Cloud seconds, or a delay of the world. */
type Seconds = number | DelayName;

export interface Form {
  readonly of: Collection;
  /** The collection's names in method ids, if they differ from its own. */
  readonly methodNames?: readonly string[];
  /** The scope of its resources. None means global. Aggregated lists use it. */
  readonly scope?: Scope;
  /** The quota that each resource counts against. */
  readonly quota?: Metric;
  /** How long a change takes. Default: 10. */
  readonly seconds?: { readonly insert?: Seconds; readonly change?: Seconds; readonly delete?: Seconds };
  /** Returns the resource that an insert makes, or throws a refusal. */
  readonly make?: (wanted: Wanted, world: World) => JsonObject;
  /** Called when a resource becomes usable. */
  readonly made?: (found: Held, world: World) => void;
  /** By verb. `patch` merges the body into the resource, `update` replaces it. */
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
  const { of, scope, methodNames = [of.name], beforeLook } = form;
  const looking =
    (handler: Handler): Handler =>
    (call, world) => {
      beforeLook?.(call, world);
      return handler(call, world);
    };
  const verbs: Readonly<Record<string, Handler>> = {
    ...(form.make === undefined ? {} : { insert: once(insertOf(form, form.make)) }),
    ...Object.fromEntries(
      Object.entries(form.changes ?? {}).map(([verb, change]) => [verb, looking(once(changeOf(form, verb, change)))]),
    ),
    get: looking(getOf(form)),
    list: looking((call, world) => listReply(call, world, of, form.shown)),
    delete: looking(once(deleteOf(form))),
  };
  const handlers = methodNames.flatMap((name) =>
    Object.entries(verbs).map(([verb, handler]) => [`compute.${name}.${verb}`, handler] as const),
  );
  const aggregated =
    scope === undefined
      ? {}
      : { [`compute.${of.name}.aggregatedList`]: looking((call, world) => aggregatedReply(call, world, of, scope)) };
  return { handlers: { ...Object.fromEntries(handlers), ...aggregated }, effects: effectsOf(form) };
}

const secondsOf = (world: World, seconds: Seconds = 10): number =>
  typeof seconds === 'number' ? seconds : delayOf(world, seconds);

/** Throws if the API cannot show this resource: it would break every later list. That is a fault of the simulator. */
export function checkFits({ kind }: Collection, resource: JsonObject): void {
  const faults = faultsOfResource(surfaceOf('compute.v1'), schemaName(kind), resource);
  if (faults.length > 0) throw new Error(`the resource does not fit the API: ${faults.slice(0, 5).join('; ')}`);
}

const insertOf =
  ({ of, quota, seconds }: Form, make: NonNullable<Form['make']>): Handler =>
  (call, world) => {
    const place = placeOf(call, world);
    const path = freshPath(call.body, place, world, of);
    if (quota !== undefined) checkQuota(world, place, quota);
    const found: Held = { phase: 'making', resource: make({ call, path, place }, world) };
    checkFits(of, found.resource);
    hold(world, of, path, found);
    return beginOn(
      call,
      world,
      { path, found, place },
      {
        type: 'insert',
        seconds: secondsOf(world, seconds?.insert),
        effect: `compute.${of.name}.inserted`,
      },
    );
  };

const changeOf =
  ({ of, operationTypes, seconds }: Form, verb: string, change: Change): Handler =>
  (call, world) => {
    const at = findReady(call, world, of);
    const changed = change(at, call.body, world, call.params);
    checkFits(of, changed);
    at.found.resource = changed;
    return beginOn(call, world, at, {
      type: operationTypes?.[verb] ?? verb,
      seconds: secondsOf(world, seconds?.change),
      effect: 'compute.done',
    });
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
    at.found.phase = 'leaving';
    return beginOn(call, world, at, {
      type: 'delete',
      seconds: secondsOf(world, seconds?.delete),
      effect: `compute.${of.name}.deleted`,
    });
  };

const getOf =
  ({ of, shown }: Form): Handler =>
  (call, world) => {
    const { path, found } = find(call, world, of);
    return shown?.(path, found.resource) ?? found.resource;
  };

/** The resource that an operation began with. Another one may have got the same name meanwhile. */
const stillAt = (path: string, { id }: JsonObject, of: Collection, world: World): Held | undefined => {
  const found = held(world, of)[path];
  return found?.resource['id'] === id ? found : undefined;
};

const effectsOf = ({ of, made, keeps, deleted }: Form): Readonly<Record<string, Effect>> => ({
  [`compute.${of.name}.inserted`]: ending((path, args, world) => {
    const found = stillAt(path, args, of, world);
    if (found === undefined) return undefined;
    found.phase = 'ready';
    made?.(found, world);
    return undefined;
  }),
  [`compute.${of.name}.deleted`]: ending((path, args, world) => {
    const found = stillAt(path, args, of, world);
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
