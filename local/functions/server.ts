/**
 * All functions in one process on one origin, each as the functions framework serves it: requests and events arrive
 * there as they would in the cloud.
 */
import type { RequestListener, Server } from 'node:http';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import type { Context } from '../../functions/context.js';
import { ownBodies } from '../../functions/http/bodies.js';
import { deployables, register } from '../../functions/index.js';
import { descriptionRoutes } from '../../shared/api.js';
import { type FunctionName, functionNames } from '../../shared/names.js';
import { organizationRoutes } from '../../shared/organization/routes.js';
import { type LoopbackServer, listen, listenNear } from '../loopback.js';
import { apiFunctions, functionPath } from '../stack/deployment.js';

export interface FunctionServer {
  readonly origin: string;
  /** Events and ticks being worked on; those who follow a bootstrap do not count. */
  underWay(): number;
  close(): Promise<void>;
}

const firstSegment = (path: string): string => path.split('/', 2)[1] ?? '';
const ofOrganizations = new Set(
  Object.values({ ...organizationRoutes, ...descriptionRoutes }).map(({ path }) => firstSegment(path)),
);
/** Which API serves a path of the one origin that they share here. */
const apiOf = (path: string): FunctionName =>
  ofOrganizations.has(firstSegment(path)) ? functionNames.api : functionNames.bootstraps;

interface Place {
  readonly name: FunctionName;
  /** As the function sees it: deployed functions are at the root of an origin of their own. */
  readonly url: string;
  /** It serves no API: it works. */
  readonly works: boolean;
}

/** Which function serves a URL of the one origin. */
export function placeOf(url: string): Place {
  // As it stands: a malformed path is the function's to answer.
  const [pathname = '/'] = url.split('?', 1);
  const name = Object.values(functionNames).find(
    (each) => !apiFunctions.includes(each) && pathname === functionPath(each),
  );
  return name === undefined
    ? { name: apiOf(pathname), url, works: false }
    : { name, url: `/${url.slice(pathname.length)}`, works: true };
}

/** One at a time in a process: the framework's registry is the process's. Contexts are asked for on first use. */
export async function startFunctionServer(
  contextOf: (name: FunctionName) => Context,
  port: number,
  /** Fail if the port is taken, rather than take another. */
  exactly: boolean,
): Promise<FunctionServer> {
  register(Object.values(deployables), contextOf);
  const servers = new Map<FunctionName, Server>(
    Object.values(functionNames).map((name) => [name, getTestServer(name)]),
  );
  // The framework's servers are told of requests by hand here, so they do not show themselves where Node tells of them.
  for (const server of servers.values()) ownBodies(server);
  let working = 0;

  const listener: RequestListener = (request, response) => {
    const { name, url, works } = placeOf(request.url ?? '/');
    request.url = url;
    if (works) {
      working += 1;
      response.once('close', () => {
        working -= 1;
      });
    }
    servers.get(name)?.emit('request', request, response);
  };

  const server: LoopbackServer = await (exactly ? listen : listenNear)(listener, port);
  // Followers stay for as long as a bootstrap takes.
  server.server.requestTimeout = 0;
  return { origin: server.url, underWay: () => working, close: server.close };
}
