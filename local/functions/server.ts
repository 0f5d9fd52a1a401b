/**
 * Serves all functions in one process on one origin, each with the functions framework. Requests and events arrive as they
 * would in the cloud.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import type { Context } from '../../functions/context.js';
import { takeServer } from '../../functions/http/framework-server.js';
import { deployables, register } from '../../functions/index.js';
import { type FunctionName, functionNames } from '../../shared/names.js';
import { type LoopbackServer, listen, listenNear } from '../loopback.js';
import { apiFunctions, placeOf } from './places.js';

export interface FunctionServer {
  readonly origin: string;
  /** Number of events and ticks under way. Callers that follow a bootstrap do not count. */
  underWay(): number;
  close(): Promise<void>;
}

/** The status of a refusal, as Cloud Run words it. Undefined: the call goes to the function. */
export type Admit = (name: FunctionName, request: IncomingMessage) => Promise<number | undefined>;

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
