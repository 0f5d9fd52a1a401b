/**
 * Takes each request of the functions framework's servers before the framework's own middleware. Its parsers run before any
 * function: they unpack up to 1 GiB for anybody, and answer malformed JSON or a malformed path with an HTML page. They skip a
 * request that names no body, so this code removes what names it. Functions then read the body themselves, after the token.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';

export type FrameworkRequest = IncomingMessage & { originalUrl?: string };

/** Google's front end sends whole headers. Only a direct client can be slow. */
const headersMs = 10_000;
/** For headers and body, whether a function wants the body or not. Afterwards Node ends the connection. */
const requestMs = 60_000;
const checkMs = 5_000;
/** The rest of a body that nobody wants is read and dropped, so that the client gets the answer. But not without bound. */
const droppedBytes = 64 * 1024 * 1024;

const taken = new WeakSet<Server>();
let takenServers = 0;

function dropRest(request: IncomingMessage): void {
  if (request.complete) return;
  let dropped = 0;
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > droppedBytes) request.socket.destroy();
  });
  // Node drops the rest of a body without counting, unless somebody has begun to read it.
  request.read(0);
  request.resume();
}

/**
 * Makes `server`, created by the functions framework, pass on requests without a body. The path is in `originalUrl`. `url` is
 * `/`, so that the framework can't fail on a malformed path.
 */
export function takeServer(server: Server): void {
  if (taken.has(server)) return;
  taken.add(server);
  takenServers += 1;
  const listeners = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  // Node's types leave out the interval, which it reads when the server begins to listen.
  Object.assign(server, { headersTimeout: headersMs, requestTimeout: requestMs, connectionsCheckingInterval: checkMs });
  server.on('request', (request: FrameworkRequest, response: ServerResponse) => {
    delete request.headers['content-length'];
    delete request.headers['transfer-encoding'];
    request.originalUrl = request.url ?? '/';
    request.url = '/';
    response.prependOnceListener('finish', () => dropRest(request));
    for (const next of listeners) next.call(server, request as never, response as never);
  });
}

/** An Express application. The framework's servers have one as their only listener, and the simulated cloud's have none. */
const isApplication = (listener: unknown): boolean =>
  typeof listener === 'function' && 'handle' in listener && 'settings' in listener;

/**
 * Takes every functions framework server in this process when it begins to listen. The framework creates its server itself and
 * doesn't expose it. Node publishes it on this channel.
 */
export function takeFrameworkServers(): void {
  subscribe('tracing:net.server.listen:asyncStart', (message) => {
    const { server } = message as { readonly server: Server };
    if (server.listeners('request').some(isApplication)) takeServer(server);
  });
}

/** Whether any server was taken. Otherwise the framework's own parsers would read the bodies. */
export const hasTakenServer = (): boolean => takenServers > 0;
