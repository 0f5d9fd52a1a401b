/**
 * Takes one call from the wire to its handler and back. The order is route → authenticate → check the request → access →
 * faults → organization policies → handler → check the reply → record. Every request of every API goes this way.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Api,
  type ApiDefinition,
  type Apis,
  type Caller,
  type CloudCall,
  type ErrorForm,
  GoogleError,
  type Handler,
  type JsonObject,
  type Media,
  type SimulatedApi,
  type World,
} from './api.js';
import type { createCalls } from './calls.js';
import { credentialsInvalid, credentialsMissing, errorBody, notSimulated, serviceDisabled } from './errors.js';
import { type Disturbance, disturbancesOf } from './faults.js';
import { copyOf, textOf } from './json-fields.js';
import { limitOf } from './limits.js';
import { checkPageToken } from './pages.js';
import { shapeOf } from './partial-reply.js';
import { isServiceUsable, lookUpProject, titleOf } from './projects.js';
import { faultsOfReply } from './reply-check.js';
import { checkBody, checkParams } from './request-check.js';
import { type Route, resourceIn, route, type Surface, surfaceOf } from './surface.js';
import type { RunningWorld } from './world.js';

export interface ApiRequest {
  readonly httpMethod: string;
  /** Still encoded, from the root of the API's own host: `/compute/v1/projects/…`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  /** `X-Goog-Request-Reason`, which Google keeps in the audit log. */
  readonly reason?: string | undefined;
  readonly body: string;
  readonly media?: Media | undefined;
  /** Who a session was begun by, where it stands in place of a token. */
  readonly caller?: Caller | undefined;
}

export type ApiReply =
  | { readonly kind: 'json'; readonly status: number; readonly body: JsonObject }
  | { readonly kind: 'empty' }
  /** No API has such a method. Google's front end answers with a page. */
  | { readonly kind: 'no-route' }
  | { readonly kind: 'drop' };

/** What the services above the kernel judge of each call. Each throws Google's refusal. */
interface Checks {
  /** Whether the caller has the permission. */
  readonly access: (definition: ApiDefinition, call: CloudCall, world: World) => void;
  /** Whether the organization's policies allow it. */
  readonly policies: (call: CloudCall, world: World) => void;
}

export interface KernelOptions {
  readonly apis: Apis;
  readonly world: RunningWorld;
  readonly calls: ReturnType<typeof createCalls>;
  readonly checks: Checks;
  readonly callerOf: (token: string) => Caller | undefined;
}

/** `host` is the API's host without `.googleapis.com`. */
export type Kernel = (host: string, request: ApiRequest) => Promise<ApiReply>;

/** A call while it is being answered. */
type OpenCall = { -readonly [K in keyof CloudCall]: CloudCall[K] } & { until?: number | undefined };

/** The method that a request means, and the API that serves it. */
interface Served {
  readonly api: Api;
  readonly definition: ApiDefinition;
  readonly surface: Surface;
  readonly route: Route;
}

/** Thrown to break the connection. */
const dropped = Symbol('dropped');

export const createKernel =
  (options: KernelOptions): Kernel =>
  async (host, request) => {
    const { world } = options;
    const begun = performance.now();
    const at = world.now();
    world.runDue();
    const served = servedBy(options.apis, host, request);
    if (served === undefined) return unserved(options.apis, host, request);
    const call = openCall(served.route, request);
    const record = (status: number, message?: string): void =>
      options.calls.record({
        at,
        milliseconds: Math.round(performance.now() - begun),
        api: served.definition.api,
        ...told(call, request),
        status,
        ...(message === undefined ? {} : { message }),
      });
    try {
      const body = await answer(options, served, request, call);
      record(200);
      return served.route.method.response === undefined ? { kind: 'empty' } : { kind: 'json', status: 200, body };
    } catch (error) {
      if (error === dropped) {
        record(0, 'the connection was dropped');
        return { kind: 'drop' };
      }
      const said = error instanceof GoogleError ? error : internal(error);
      record(said.code, said.message);
      return { kind: 'json', status: said.code, body: errorBody(formOf(served.api, request), said) };
    } finally {
      if (request.httpMethod !== 'GET') world.changed();
    }
  };

function servedBy(apis: Apis, host: string, { httpMethod, path }: ApiRequest): Served | undefined {
  const api: Api | undefined = Object.hasOwn(apis, host) ? apis[host as SimulatedApi] : undefined;
  for (const definition of api?.versions ?? []) {
    const surface = surfaceOf(definition.api);
    const found = route(surface, httpMethod, path);
    if (api !== undefined && found !== undefined) return { api, definition, surface, route: found };
  }
  return undefined;
}

/** A caller can choose the version of the error's form. The second has no `errors[]`. */
function formOf({ errors }: Api, { query }: ApiRequest): ErrorForm {
  const version = query.get('$.xgafv');
  return version === '2' ? 'platform' : version === '1' && errors !== 'legacy' ? 'both' : errors;
}

/** Google has what the request asks for, or not. */
function unserved(apis: Apis, host: string, { httpMethod, path }: ApiRequest): ApiReply {
  const what = limitOf(apis, host, httpMethod, path);
  if (what === undefined) return { kind: 'no-route' };
  return { kind: 'json', status: 501, body: errorBody('both', notSimulated(what)) };
}

const openCall = ({ method, params }: Route, { path, media }: ApiRequest): OpenCall => ({
  method: method.id,
  params,
  lists: {},
  resource: resourceIn(path, method.path),
  body: {},
  media,
  caller: { email: '', kind: 'user' },
});

/** The part of a call that the record of calls keeps. */
const told = (call: OpenCall, { reason }: ApiRequest) => ({
  method: call.method,
  params: call.params,
  ...namedIn(call.body),
  caller: call.caller.email,
  ...(reason === undefined ? {} : { reason }),
  ...(call.until === undefined ? {} : { until: Math.round(call.until) }),
});

async function answer(
  { world, checks, callerOf }: KernelOptions,
  { api, definition, surface, route: { method, params: inPath } }: Served,
  request: ApiRequest,
  call: OpenCall,
): Promise<JsonObject> {
  call.caller = request.caller ?? authenticate(request.authorization, callerOf);
  const handler = definition.handlers[method.id];
  if (handler === undefined) throw notSimulated(`method ${method.id}`);
  const { params, lists, fields } = checkParams(surface, method, inPath, request.query);
  Object.assign(call, { params, lists });
  call.body = checkBody(surface, method, request.body, fields);
  checkPageToken(params['pageToken'] ?? textOf(call.body['pageToken']));
  const shape = shapeOf(surface, method, request.query);
  checkService(world, surface.host, consumerOf(world, api, call));
  checks.access(definition, call, world);
  const reply = await handle(world, checks, call, handler);
  const faults = faultsOfReply(surface, method, reply);
  if (faults.length > 0) {
    throw new Error(
      `the simulated cloud's reply to ${method.id} does not fit the API: ${faults.slice(0, 5).join('; ')}`,
    );
  }
  return shape(reply);
}

export function authenticate(authorization: string | undefined, callerOf: KernelOptions['callerOf']): Caller {
  const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw credentialsMissing();
  const caller = callerOf(token);
  if (caller === undefined) throw credentialsInvalid();
  return caller;
}

/** Calls of people count for the project of gcloud itself, where everything is on. */
function consumerOf(world: World, { countsAtCaller }: Served['api'], { caller, resource }: OpenCall): string {
  if (countsAtCaller?.(world) !== true) return resource;
  const own = /^[^@]+@([a-z][a-z0-9-]+)\.iam\.gserviceaccount\.com$/.exec(caller.email)?.[1];
  return own === undefined ? '' : `projects/${own}`;
}

function checkService(world: World, service: string, resource: string): void {
  const name = /^projects\/([^/]+)/.exec(resource)?.[1];
  const project = name === undefined ? undefined : lookUpProject(world, name);
  if (project?.state === 'ACTIVE' && !isServiceUsable(world, project, service)) {
    throw serviceDisabled(service, titleOf(world, service), project.projectNumber);
  }
}

async function handle(world: RunningWorld, checks: Checks, call: OpenCall, handler: Handler): Promise<JsonObject> {
  const { before, after } = disturbancesOf(world, call);
  await suffer(before);
  checks.policies(call, world);
  const { result, until } = world.noting(() => handler(call, world));
  call.until = until;
  const reply = await result;
  // Where things take time, nothing is over in the reply that begins it.
  const begun = world.scaled(1) > 0 ? copyOf(reply) : undefined;
  world.runDue();
  await suffer(after);
  // The live record may change while the reply leaves.
  return begun ?? copyOf(reply);
}

async function suffer(disturbances: readonly Disturbance[]): Promise<void> {
  for (const disturbance of disturbances) {
    if (disturbance.kind === 'slow') await lingering(disturbance);
    else throw disturbance.kind === 'drop' ? dropped : disturbance.error;
  }
}

async function lingering({ seconds, isRemoved }: Extract<Disturbance, { kind: 'slow' }>): Promise<void> {
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until && !isRemoved()) await sleep(20, undefined, { ref: false });
}

function namedIn(body: JsonObject): { named?: string } {
  const named = body['name'] ?? body['projectId'] ?? body['accountId'];
  return typeof named === 'string' ? { named } : {};
}

/** A fault of the simulator itself. The message must not be mistaken for one of Google's. */
function internal(error: unknown): GoogleError {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`simulated cloud: ${message}\n`);
  return new GoogleError(
    500,
    'INTERNAL',
    `Fault of the simulated cloud: ${error instanceof Error ? error.message : message}`,
  );
}
