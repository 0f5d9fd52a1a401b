/**
 * One call from wire to handler and back: route → authenticate → check the request → access → faults → handler →
 * check the reply → record. Called by the server for every request of every API.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { checkAccess } from '../iam/access.js';
import { isServiceUsable, lookUpProject } from '../projects/projects.js';
import {
  type ApiDefinition,
  type ApiName,
  type Caller,
  type CloudCall,
  GoogleError,
  type JsonObject,
  type Media,
} from './api.js';
import type { createCalls } from './calls.js';
import { credentialsInvalid, credentialsMissing, errorBody, notImplemented, serviceDisabled } from './errors.js';
import { type Disturbance, disturbancesOf } from './faults.js';
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
  /** `X-Goog-Request-Reason`: kept in the audit log. */
  readonly reason?: string | undefined;
  readonly body: string;
  readonly media?: Media | undefined;
}

export type ApiReply =
  | { readonly kind: 'json'; readonly status: number; readonly body: JsonObject }
  | { readonly kind: 'empty' }
  /** No API has such a method: Google's front end answers with a page. */
  | { readonly kind: 'no-route' }
  | { readonly kind: 'drop' };

export interface KernelOptions {
  readonly definitions: readonly ApiDefinition[];
  readonly world: RunningWorld;
  readonly calls: ReturnType<typeof createCalls>;
  readonly callerOf: (token: string) => Caller | undefined;
}

export type Kernel = (apis: readonly ApiName[], request: ApiRequest) => Promise<ApiReply>;

/** Their calls are about projects that need not have the API on. */
const worksWithoutService: ReadonlySet<ApiName> = new Set([
  'cloudresourcemanager.v1',
  'cloudresourcemanager.v3',
  'cloudbilling.v1',
  'serviceusage.v1',
]);

/** While it is being answered. */
type OpenCall = { -readonly [K in keyof CloudCall]: CloudCall[K] } & { until?: number | undefined };

/** Thrown where the connection is to break. */
const dropped = Symbol('dropped');

async function lingering({ seconds, isRemoved }: Extract<Disturbance, { kind: 'slow' }>): Promise<void> {
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until && !isRemoved()) await sleep(20, undefined, { ref: false });
}

export function createKernel({ definitions, world, calls, callerOf }: KernelOptions): Kernel {
  const definitionOf = new Map(definitions.map((definition) => [definition.api, definition]));

  function authenticate(authorization: string | undefined): Caller {
    const token = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) throw credentialsMissing();
    const caller = callerOf(token);
    if (caller === undefined) throw credentialsInvalid();
    return caller;
  }

  function checkService(surface: Surface, resource: string): void {
    if (worksWithoutService.has(surface.api)) return;
    const name = /^projects\/([^/]+)/.exec(resource)?.[1];
    const project = name === undefined ? undefined : lookUpProject(world, name);
    if (project?.state === 'ACTIVE' && !isServiceUsable(world, project, surface.host)) {
      throw serviceDisabled(surface.host, project.projectNumber);
    }
  }

  async function handle(call: OpenCall, definition: ApiDefinition): Promise<JsonObject> {
    const { before, after } = disturbancesOf(world, call);
    for (const disturbance of before) {
      if (disturbance.kind === 'slow') await lingering(disturbance);
      else throw disturbance.kind === 'drop' ? dropped : disturbance.error;
    }
    const handler = definition.handlers[call.method];
    if (handler === undefined) throw notImplemented(call.method);
    const { result, until } = world.noting(() => handler(call, world));
    call.until = until;
    const reply = await result;
    world.runDue();
    for (const disturbance of after) {
      if (disturbance.kind === 'slow') await lingering(disturbance);
      else throw disturbance.kind === 'drop' ? dropped : disturbance.error;
    }
    return reply;
  }

  async function answer(
    surface: Surface,
    { method, params: inPath }: Route,
    request: ApiRequest,
    call: OpenCall,
  ): Promise<JsonObject> {
    call.caller = authenticate(request.authorization);
    const { params, lists } = checkParams(surface, method, inPath, request.query);
    Object.assign(call, { params, lists });
    call.body = checkBody(surface, method, request.body);
    const definition = definitionOf.get(surface.api);
    if (definition === undefined) throw notImplemented(method.id);
    checkService(surface, call.resource);
    checkAccess(definition, call, world);
    const reply = await handle(call, definition);
    const faults = faultsOfReply(surface, method, reply);
    if (faults.length > 0) {
      throw new Error(
        `the simulated cloud's reply to ${method.id} does not fit the API: ${faults.slice(0, 5).join('; ')}`,
      );
    }
    return reply;
  }

  return async (apis, request) => {
    const begun = performance.now();
    const at = world.now();
    world.runDue();
    for (const api of apis) {
      const surface = surfaceOf(api);
      const found = route(surface, request.httpMethod, request.path);
      if (found === undefined) continue;
      const nobody: Caller = { email: '', kind: 'user' };
      const call: OpenCall = {
        method: found.method.id,
        params: found.params,
        lists: {},
        resource: resourceIn(request.path),
        body: {},
        media: request.media,
        caller: nobody,
      };
      const record = (status: number, message?: string): void =>
        calls.record({
          at,
          milliseconds: Math.round(performance.now() - begun),
          api,
          method: call.method,
          params: call.params,
          ...namedIn(call.body),
          caller: call.caller.email,
          status,
          ...(message === undefined ? {} : { message }),
          ...(request.reason === undefined ? {} : { reason: request.reason }),
          ...(call.until === undefined ? {} : { until: Math.round(call.until) }),
        });
      try {
        const body = await answer(surface, found, request, call);
        // A copy, made in this very moment: the live record may go on changing while the reply leaves.
        const copy = structuredClone(body);
        record(200);
        return found.method.response === undefined ? { kind: 'empty' } : { kind: 'json', status: 200, body: copy };
      } catch (error) {
        if (error === dropped) {
          record(0, 'the connection was dropped');
          return { kind: 'drop' };
        }
        const said = error instanceof GoogleError ? error : internal(error);
        record(said.code, said.message);
        return { kind: 'json', status: said.code, body: errorBody(api, said) };
      } finally {
        if (request.httpMethod !== 'GET') world.changed();
      }
    }
    return { kind: 'no-route' };
  };
}

function namedIn(body: JsonObject): { named?: string } {
  const named = body['name'] ?? body['projectId'] ?? body['accountId'];
  return typeof named === 'string' ? { named } : {};
}

/** A fault of the simulator itself: not to be mistaken for one that Google would have. */
function internal(error: unknown): GoogleError {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`simulated cloud: ${message}\n`);
  return new GoogleError(
    500,
    'INTERNAL',
    `Fault of the simulated cloud: ${error instanceof Error ? error.message : message}`,
  );
}
