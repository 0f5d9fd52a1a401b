/**
 * The simulated cloud's HTTP servers. Each API has a loopback port of its own, because official clients take no path prefix.
 *
 * A front port serves all APIs to gcloud under `/<api host>/…`, with compute's batch, the token issuer and the control paths.
 */
import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type LoopbackServer, listenNear } from '../../loopback.js';
import type { JsonObject } from './api.js';
import { answerBatch } from './batch.js';
import type { ApiReply, ApiRequest, Kernel } from './kernel.js';
import type { MediaReply, MediaRequest } from './media.js';

/** Answers paths beside the APIs. Returns undefined for any other path. */
export type ControlPath = (request: {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}) => Promise<{ status: number; body: unknown; type?: string; headers?: Record<string, string> } | undefined>;

export type RunningServer = Pick<LoopbackServer, 'port' | 'url' | 'close'>;

/** Listens on `port`. Takes any free port if that is 0 or in use. */
export const listen = (
  port: number,
  answer: (request: IncomingMessage, response: ServerResponse, body: Buffer) => Promise<void>,
): Promise<RunningServer> =>
  listenNear((request, response) => {
    void readBody(request)
      .then((body) => answer(request, response, body))
      .catch((error: unknown) => {
        // The client hung up in the middle of its request.
        if (request.destroyed && !request.complete) return;
        process.stderr.write(`simulated cloud: ${error instanceof Error ? error.stack : String(error)}\n`);
        if (!response.headersSent) response.writeHead(500);
        response.end();
      });
  }, port);

/** Of a chunk of an upload whose connection broke, what came. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch (error) {
    if (!/[?&]upload_id=/.test(request.url ?? '')) throw error;
  }
  return Buffer.concat(chunks);
}

/** Serves the uploads and downloads of Cloud Storage. Returns undefined for any other path. */
type MediaPaths = (asked: MediaRequest) => Promise<MediaReply | ApiReply | undefined>;

/** What the ports serve. */
export interface Served {
  /** The hosts of all APIs, without `.googleapis.com`. */
  readonly hosts: readonly string[];
  readonly kernel: Kernel;
  readonly media: MediaPaths;
}

async function answerAt(
  { kernel, media }: Served,
  host: string,
  asked: MediaRequest,
  response: ServerResponse,
): Promise<void> {
  const { request } = asked;
  const reply = (host === 'storage' ? await media(asked) : undefined) ?? (await kernel(host, request));
  if ('kind' in reply) return send(response, reply, request.path);
  const { status, headers, body } = reply;
  if (Buffer.isBuffer(body) || typeof body === 'string') {
    response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers });
    response.end(body);
    return;
  }
  response.writeHead(status, headers);
  const bytes = createReadStream(body.path, { start: body.first, end: body.last });
  await pipeline(bytes, response).catch((error: NodeJS.ErrnoException) => {
    // The caller may hang up.
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  });
}

/** Serves one API from the root of its own port. */
export function apiServer(served: Served, host: string, port: number): Promise<RunningServer> {
  return listen(port, async (request, response, body) => {
    const url = new URL(request.url ?? '/', 'http://loopback');
    if (url.pathname.startsWith('/batch')) return sendBatch(served, request, response, body, host);
    const asked = toApiRequest(request, url, url.pathname, body);
    const origin = `http://${request.headers.host ?? ''}`;
    await answerAt(served, host, { ...mediaIn(request, body), request: asked, origin }, response);
  });
}

/** Serves every API under `/<api host>/…`, and the paths beside the APIs. */
export function frontServer(served: Served, control: ControlPath, port: number): Promise<RunningServer> {
  return listen(port, async (request, response, body) => {
    const url = new URL(request.url ?? '/', 'http://loopback');
    const split = splitHost(url.pathname);
    if (split !== undefined) {
      if (split.path.startsWith('/batch')) return sendBatch(served, request, response, body, split.host);
      const asked = toApiRequest(request, url, split.path, body);
      const origin = `http://${request.headers.host ?? ''}${split.prefix}`;
      await answerAt(served, split.host, { ...mediaIn(request, body), request: asked, origin }, response);
      return;
    }
    const batchHost = /^\/batch\/(\w+)\//.exec(url.pathname)?.[1];
    if (batchHost !== undefined) return sendBatch(served, request, response, body, batchHost);
    const { method = 'GET', headers } = request;
    const reply = await control({
      method,
      path: url.pathname,
      query: url.searchParams,
      headers,
      body: body.toString('utf8'),
    });
    if (reply === undefined) {
      send(response, { kind: 'no-route' }, url.pathname);
      return;
    }
    response.writeHead(reply.status, { 'content-type': reply.type ?? 'application/json', ...reply.headers });
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body, null, 2));
  });
}

const mediaIn = (request: IncomingMessage, bytes: Buffer): Pick<MediaRequest, 'headers' | 'bytes' | 'isCut'> => ({
  headers: request.headers,
  bytes,
  isCut: !request.complete,
});

/** `/compute.googleapis.com/compute/v1/…` → `compute` and `/compute/v1/…`. */
function splitHost(path: string): { host: string; path: string; prefix: string } | undefined {
  // gcloud resolves the paths of uploads and downloads against the root, whatever its base URL is.
  if (mediaAtRoot.test(path)) return { host: 'storage', path, prefix: '' };
  const [, host, rest = '/'] = /^\/([\w-]+)\.googleapis\.com(\/.*)?$/.exec(path) ?? [];
  return host === undefined ? undefined : { host, path: rest, prefix: `/${host}.googleapis.com` };
}

const mediaAtRoot = /^\/(?:(?:resumable\/)?upload|download)\/storage\/v1\//;

const uploads = /^(?:\/resumable)?\/upload\//;

const toApiRequest = (request: IncomingMessage, url: URL, path: string, body: Buffer): ApiRequest => ({
  httpMethod: request.method ?? 'GET',
  // gcloud lists a registry's locations with an old version of the API. The reply is the same.
  path: path.replace(/^\/v1beta2(\/projects\/[^/]+\/locations)$/, '/v1$1'),
  query: url.searchParams,
  authorization: request.headers.authorization,
  reason: request.headers['x-goog-request-reason']?.toString(),
  // An upload may be large, and its bytes need not be text.
  body: uploads.test(path) ? '' : body.toString('utf8'),
});

function send(response: ServerResponse, reply: ApiReply, path: string): void {
  switch (reply.kind) {
    case 'drop':
      response.socket?.destroy();
      return;
    case 'empty':
      response.writeHead(204).end();
      return;
    case 'no-route':
      response.writeHead(404, { 'content-type': 'text/html; charset=UTF-8' });
      response.end(
        `<!DOCTYPE html>\n<title>Error 404 (Not Found)!!1</title>\n<p>The requested URL <code>${escapeHtml(path)}</code> was not found on this server.`,
      );
      return;
    case 'json':
      response.writeHead(reply.status, { 'content-type': 'application/json; charset=UTF-8', vary: 'X-Origin' });
      response.end(JSON.stringify(reply.body));
  }
}

const escapeHtml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

async function sendBatch(
  served: Served,
  request: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  host: string,
): Promise<void> {
  const reply = await answerBatch(body.toString('utf8'), request.headers, async (part) => {
    const url = new URL(part.url, 'http://loopback');
    const split = splitHost(url.pathname) ?? { host, path: url.pathname };
    const said = await served.kernel(split.host, {
      httpMethod: part.method,
      path: split.path,
      query: url.searchParams,
      authorization: part.headers['authorization'] ?? request.headers.authorization,
      body: part.body,
    });
    if (said.kind === 'json') return { status: said.status, body: said.body };
    return { status: said.kind === 'empty' ? 204 : 404, body: {} satisfies JsonObject };
  });
  response.writeHead(reply.status, { 'content-type': reply.type });
  response.end(reply.body);
}
