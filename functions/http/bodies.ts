/**
 * Reads request bodies in place of the functions framework. The framework's parsers run before any function and unpack up to 1
 * GiB for anybody. They answer malformed JSON or a malformed path with an HTML page that no function can change. They skip a
 * body that is already read, so this code reads it one step earlier.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Problem, problemBody } from '../../shared/problems.js';
import { httpsAlone } from './reply.js';

export interface Body {
  /** The bytes as sent, never unpacked. Cut at the limit. */
  readonly bytes: Buffer;
  /** True if it was longer than the limit. */
  readonly cut: boolean;
}

export type FrameworkRequest = IncomingMessage & { originalUrl?: string; rawBody?: Buffer; body?: unknown };

/** No HTTP route accepts more than 2 MiB. A Pub/Sub message has at most 10 MB. */
const limitBytes = { request: 2 * 1024 * 1024, event: 16 * 1024 * 1024 };
/** A body over the limit is read to its end and dropped, so that the client gets the answer. But not without bound. */
const patienceBytes = 64 * 1024 * 1024;

const bodies = new WeakMap<IncomingMessage, Body>();
const owned = new WeakSet<RequestListener>();

/** The body of a request that came through `ownBodies`, or undefined. */
export const bodyOf = (request: IncomingMessage): Body | undefined => bodies.get(request);

const isEvent = (request: IncomingMessage): boolean =>
  request.headers['ce-id'] !== undefined ||
  (request.headers['content-type'] ?? '').startsWith('application/cloudevents+json');

const read = (request: IncomingMessage, limit: number): Promise<Body | 'endless' | 'gone'> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let kept = 0;
    let seen = 0;
    request.on('data', (chunk: Buffer) => {
      seen += chunk.length;
      if (kept < limit) {
        chunks.push(chunk.subarray(0, limit - kept));
        kept = Math.min(limit, kept + chunk.length);
      }
      if (seen > patienceBytes) {
        request.removeAllListeners('data').pause();
        resolve('endless');
      }
    });
    request.on('end', () => resolve({ bytes: Buffer.concat(chunks), cut: seen > limit }));
    request.on('error', () => resolve('gone'));
    request.on('close', () => resolve('gone'));
  });

const parsed = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
};

const hangUp = (response: ServerResponse): void => {
  const body = problemBody(new Problem('payload-too-large', 'The body does not end.'));
  response.writeHead(413, { ...httpsAlone, 'content-type': 'application/problem+json', connection: 'close' });
  response.end(JSON.stringify(body), () => response.socket?.destroy());
};

/**
 * Makes `server`, created by the functions framework, read each body before it calls its listeners. HTTP functions get the
 * body with `bodyOf` and the path from `originalUrl`. `url` is `/`, so that the framework can't fail on a malformed path.
 * Event functions get the body in `request.body`, as with the framework. There, a body that is not JSON is undefined.
 */
export function ownBodies(server: Server): void {
  const listeners = server.listeners('request') as RequestListener[];
  if (listeners.some((listener) => owned.has(listener))) return;
  server.removeAllListeners('request');
  const listener = async (request: FrameworkRequest, response: ServerResponse): Promise<void> => {
    const event = isEvent(request);
    const body = await read(request, event ? limitBytes.event : limitBytes.request);
    if (body === 'gone') return;
    if (body === 'endless') return hangUp(response);
    bodies.set(request, body);
    request.rawBody = body.bytes;
    if (event) request.body = parsed(body.bytes);
    request.originalUrl = request.url ?? '/';
    request.url = '/';
    for (const next of listeners) next.call(server, request as never, response as never);
  };
  owned.add(listener as RequestListener);
  server.on('request', listener);
}
/** An Express application. The framework's servers have one as their only listener, and the simulated cloud's have none. */
const isApplication = (listener: unknown): boolean =>
  typeof listener === 'function' && 'handle' in listener && 'settings' in listener;

/**
 * Reads the bodies of every functions framework server in this process from its first request on. The framework creates its
 * server itself and doesn't expose it. Node publishes it on this channel before it calls the listeners.
 */
export function ownFrameworkBodies(): void {
  subscribe('http.server.request.start', (message) => {
    const { server } = message as { readonly server: Server };
    if (server.listeners('request').some(isApplication)) ownBodies(server);
  });
}
