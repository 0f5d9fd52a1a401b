/** Compute's operations. Every change begins one, and it is DONE when its effect has run. Clients use get, list and wait. */
import type { CloudCall, Effect, GoogleError, Handler, JsonObject, Served, World } from '../kernel/api.js';
import { textOf } from '../kernel/json-fields.js';
import { entriesOf, projectIn, put } from './of-project.js';
import {
  type Found,
  invalid,
  lastOf,
  link,
  listOf,
  notFound,
  type Place,
  placeOf,
  stamp,
  unlink,
} from './resources.js';

const table = (world: World): Record<string, JsonObject> => world.table('compute.operations');

/** Operations by request id. A call with a known request id gets the operation it began before. */
const requests = (world: World): Record<string, string> => world.table<string>('compute.requests');

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly httpStatus: number;
  readonly httpMessage: string;
  readonly details?: JsonObject[];
}

interface Work {
  readonly type: string;
  readonly seconds: number;
  readonly exact?: boolean;
  /** Name of the effect that ends the operation, made by `ending`. */
  readonly effect: string;
  readonly args?: JsonObject;
}

interface Beginning extends Work {
  /** Path of the resource that the operation changes. */
  readonly target: string;
  readonly targetId: string;
}

/** Answers with the operation that the same request id began before, or runs the call. */
export const once =
  (handler: Handler): Handler =>
  (call, world) => {
    const id = call.params['requestId'];
    if (id === undefined || id === '') return handler(call, world);
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id) || /^[0-]+$/.test(id)) {
      throw invalid('requestId', id, 'The request ID must be a valid UUID, and not the zero UUID.');
    }
    const key = `${placeOf(call, world).project.projectId} ${call.method} ${id}`;
    const known = table(world)[requests(world)[key] ?? ''];
    if (known !== undefined) return known;
    const reply = handler(call, world);
    if (reply instanceof Promise) throw new TypeError('changes of compute are synchronous');
    requests(world)[key] = unlinkOperation(reply);
    return reply;
  };

const unlinkOperation = (operation: JsonObject): string => unlink(textOf(operation['selfLink']) ?? '');

/** Begins an operation. With a time factor of 0 it is over before the reply leaves. */
export function begin(call: CloudCall, world: World, place: Place, what: Beginning): JsonObject {
  const { type, seconds, target, targetId: id } = what;
  const [operation, reply] = record(world, place, 'operation', { type, target, id, user: call.caller.email });
  world.schedule(seconds * 0.15, 'compute.operations.run', { operation });
  world.schedule(seconds, what.effect, { operation, target, id, ...what.args }, { exact: what.exact ?? false });
  return reply;
}

/** Begins an operation on a resource of a collection. */
export const beginOn = (call: CloudCall, world: World, { path, found, place }: Found, work: Work): JsonObject =>
  begin(call, world, place, { ...work, target: path, targetId: String(found.resource['id']) });

/** An operation of Google itself, such as taking a spot VM away. It is already over. */
export function systemOperation(world: World, place: Place, type: string, target: string, id: string): void {
  const [, operation] = record(world, place, 'systemevent', { type, target, id, user: 'system' });
  finish(world, operation);
}

interface Begun {
  readonly type: string;
  readonly target: string;
  readonly id: string;
  readonly user: string;
}

function record(
  world: World,
  { project, scope, prefix }: Place,
  kind: 'operation' | 'systemevent',
  { type, target, id, user }: Begun,
): [path: string, operation: JsonObject] {
  const name = `${kind}-${world.now()}-${hex(world, 13)}-${hex(world, 8)}-${hex(world, 8)}`;
  const path = `${prefix}/operations/${name}`;
  const where = link(`projects/${project.projectId}/${scope}`);
  const operation: JsonObject = {
    kind: 'compute#operation',
    id: world.id(),
    name,
    operationType: type,
    targetLink: link(target),
    targetId: id,
    status: 'PENDING',
    user,
    progress: 0,
    insertTime: stamp(world.now()),
    selfLink: link(path),
    ...(scope.startsWith('zones/') ? { zone: where } : {}),
    ...(scope.startsWith('regions/') ? { region: where } : {}),
  };
  put(table(world), path, operation);
  return [path, operation];
}

const hex = (world: World, digits: number): string =>
  Array.from({ length: digits }, () => Math.floor(world.random() * 16).toString(16)).join('');

/** Makes the effect that ends an operation. It does the work and stores the failure, if there is one. */
export const ending =
  (work: (target: string, args: JsonObject, world: World) => Failure | undefined): Effect =>
  (args, world) => {
    const operation = table(world)[textOf(args['operation']) ?? ''];
    const failure = work(textOf(args['target']) ?? '', args, world);
    if (operation !== undefined) finish(world, operation, failure);
  };

function finish(world: World, operation: JsonObject, failure?: Failure): void {
  if (operation['status'] === 'DONE') return;
  const now = stamp(world.now());
  operation['startTime'] ??= now;
  Object.assign(operation, { status: 'DONE', progress: 100, endTime: now });
  if (failure !== undefined) {
    operation['error'] = {
      errors: [
        {
          code: failure.code,
          message: failure.message,
          ...(failure.details === undefined ? {} : { errorDetails: failure.details }),
        },
      ],
    };
    operation['httpErrorStatusCode'] = failure.httpStatus;
    operation['httpErrorMessage'] = failure.httpMessage;
  }
}

/** Ends all operations on a resource that are under way, with a failure. */
export function failOperations(world: World, target: string, failure: Failure): void {
  for (const operation of Object.values(table(world))) {
    if (operation['targetLink'] === link(target)) finish(world, operation, failure);
  }
}

function find(call: CloudCall, world: World): JsonObject {
  const path = `${placeOf(call, world).prefix}/operations/${call.params['operation']}`;
  const found =
    table(world)[path] ??
    entriesOf(table(world), projectIn(path)).find(
      ([at, { id }]) => id === lastOf(path) && at.startsWith(path.slice(0, path.lastIndexOf('/'))),
    )?.[1];
  if (found === undefined) throw notFound(path);
  return found;
}

const get: Handler = (call, world) => find(call, world);

/** Blocks up to two minutes. Like Google's, it sometimes returns early. */
const wait: Handler = async (call, world) => {
  const operation = find(call, world);
  const limit = world.random() < 0.1 ? 5 : 120;
  const until = world.now() + world.scaled(limit);
  while (operation['status'] !== 'DONE' && world.now() < until) {
    const next = Math.min(world.nextDue() ?? until, until);
    await world.sleep(Math.max(1, next - world.now()));
    world.runDue();
  }
  return operation;
};

const list: Handler = (call, world) => {
  const { prefix, project } = placeOf(call, world);
  const inside = entriesOf(table(world), project.projectId).filter(([path]) => path.startsWith(`${prefix}/`));
  return listOf(call, `${prefix}/operations`, 'compute#operationList', inside);
};

const scopes = ['globalOperations', 'regionOperations', 'zoneOperations'];

const operationHandlers: Record<string, Handler> = Object.fromEntries(
  scopes.flatMap((scope) => [
    [`compute.${scope}.get`, get],
    [`compute.${scope}.list`, list],
    [`compute.${scope}.wait`, wait],
  ]),
);

const operationEffects: Record<string, Effect> = {
  'compute.operations.run': (args, world) => {
    const operation = table(world)[textOf(args['operation']) ?? ''];
    if (operation?.['status'] !== 'PENDING') return;
    operation['status'] = 'RUNNING';
    operation['startTime'] = stamp(world.now());
  },
};

/** Turns a refusal into the failure of an operation. */
export const failureOf = (error: GoogleError, code: string): Failure => ({
  code,
  message: error.message,
  httpStatus: error.code,
  httpMessage: httpMessages[error.code] ?? 'BAD REQUEST',
});

const httpMessages: Readonly<Record<number, string>> = {
  400: 'BAD REQUEST',
  403: 'FORBIDDEN',
  404: 'NOT FOUND',
  409: 'CONFLICT',
  412: 'PRECONDITION FAILED',
  503: 'SERVICE UNAVAILABLE',
};

export const servedOperations: Served = { handlers: operationHandlers, effects: operationEffects };
