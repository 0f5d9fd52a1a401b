/**
 * Serves all functions in one process on one origin, each with the functions framework. Requests and events arrive as they
 * would in the cloud.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import type { Context } from '../../functions/context.js';
import { takeServer } from '../../functions/http/framework-server.js';
import { deployables, register } from '../../functions/index.js';
import { descriptionRoutes } from '../../shared/api.js';
import { consoleRoutes } from '../../shared/console/routes.js';
import { type FunctionName, functionNames } from '../../shared/names.js';
import { organizationRoutes } from '../../shared/organization/routes.js';
import { type LoopbackServer, listen, listenNear } from '../loopback.js';
import { apiFunctions, functionPath } from '../stack/deployment.js';
import type { Admit } from './front-end.js';

export interface FunctionServer {
  readonly origin: string;
  /** Number of events and ticks under way. Callers that follow a bootstrap do not count. */
  underWay(): number;
  close(): Promise<void>;
}

const firstSegment = (path: string): string => path.split('/', 2)[1] ?? '';
const ofOrganizations = new Set(
  Object.values({ ...organizationRoutes, ...descriptionRoutes, ...consoleRoutes }).map(({ path }) =>
    firstSegment(path),
  ),
);
/** The API that serves a path of the shared origin. */
const apiOf = (path: string): FunctionName =>
  ofOrganizations.has(firstSegment(path)) ? functionNames.api : functionNames.bootstraps;

interface Place {
  readonly name: FunctionName;
  /** The URL as the function sees it: deployed functions are at the root of their own origin. */
  readonly url: string;
  /** The function serves no API, but does work. */
  readonly works: boolean;
}

/** The function that serves a URL of the shared origin. */
export function placeOf(url: string): Place {
  // No parsing: the function itself answers a malformed path.
  const [pathname = '/'] = url.split('?', 1);
  const name = Object.values(functionNames).find(
    (each) => !apiFunctions.includes(each) && pathname === functionPath(each),
  );
  return name === undefined
    ? { name: apiOf(pathname), url, works: false }
    : { name, url: `/${url.slice(pathname.length)}`, works: true };
}

/** Nobody is asked who calls an API: it verifies its callers itself. */
export async function admitted(
  admit: Admit,
  name: FunctionName,
  request: IncomingMessage,
  response: ServerResponse,
  then: () => void,
): Promise<void> {
  const refusal = apiFunctions.includes(name) ? undefined : await admit(name, request);
  if (refusal === undefined) then();
  else response.writeHead(refusal).end();
}

/** Only one at a time in a process, because the framework's registry is global to it. Contexts are made on first use. */
export async function startFunctionServer(
  contextOf: (name: FunctionName) => Context,
  port: number,
  /** Fail if the port is taken, instead of taking another. */
  exactly: boolean,
  admit: Admit,
): Promise<FunctionServer> {
  register(Object.values(deployables), contextOf);
  const servers = new Map<FunctionName, Server>(
    Object.values(functionNames).map((name) => [name, getTestServer(name)]),
  );
  // The framework's servers get their requests by hand here, so they do not show up where Node announces servers.
  for (const server of servers.values()) takeServer(server);
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
    void admitted(admit, name, request, response, () => servers.get(name)?.emit('request', request, response));
  };

  const server: LoopbackServer = await (exactly ? listen : listenNear)(listener, port);
  // Callers that follow a bootstrap stay connected for as long as it takes.
  server.server.requestTimeout = 0;
  return { origin: server.url, underWay: () => working, close: server.close };
}
