/** One HTTP request through a proxy, answered as `fetch` answers. It follows no redirect. */
import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { agentOf, proxyAuthorization } from './proxy-agent.js';
import { proxyFailure, proxyRefusal } from './proxy-problem.js';
import type { ProxyWay } from './way.js';

const redirects = [301, 302, 303, 307, 308];
const withoutBody = [101, 204, 205, 304];

export async function sendThrough(way: ProxyWay, url: URL, init: RequestInit): Promise<Response> {
  const asked = new Request(url, init);
  const body = asked.body === null ? undefined : Buffer.from(await asked.arrayBuffer());
  const headers: Record<string, string> = {
    accept: '*/*',
    ...Object.fromEntries(asked.headers),
    'accept-encoding': 'identity',
    ...(body !== undefined && { 'content-length': String(body.length) }),
  };
  const signal = init.signal ?? undefined;
  signal?.throwIfAborted();
  const incoming = await answered(begin(way, url, { method: asked.method, headers }), body, signal);
  const { statusCode: status = 0, statusMessage: statusText } = incoming;
  if (url.protocol === 'http:' && status === 407) {
    incoming.destroy();
    throw proxyRefusal(way, url.host, { statusCode: status, statusText });
  }
  if (init.redirect === 'error' && redirects.includes(status) && incoming.headers.location !== undefined) {
    incoming.destroy();
    throw new TypeError('unexpected redirect');
  }
  if (withoutBody.includes(status)) incoming.resume();
  const content = withoutBody.includes(status) ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>);
  return new Response(content, { status, statusText: statusText ?? '', headers: headersOf(incoming) });
}

/** TLS goes through a tunnel. Plain HTTP is sent to the proxy itself, which may forbid tunnels to port 80. */
function begin(way: ProxyWay, url: URL, options: Pick<RequestOptions, 'method'> & { headers: Record<string, string> }) {
  if (url.protocol === 'https:') return httpsRequest(url, { ...options, agent: agentOf(way) });
  const { proxy } = way;
  const authorization = proxyAuthorization(proxy);
  const request = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
    ...options,
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port,
    path: url.href,
    headers: {
      ...options.headers,
      host: url.host,
      ...(authorization !== undefined && { 'proxy-authorization': authorization }),
    },
  });
  return Object.assign(request, { failureOf: (error: unknown) => proxyFailure(way, error) });
}

type Begun = ClientRequest & { readonly failureOf?: (error: unknown) => Error };

/** The signal ends the request, and afterwards the answer. */
function answered(request: Begun, body: Buffer | undefined, signal: AbortSignal | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      request.destroy(signal?.reason);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
    const release = (): void => signal?.removeEventListener('abort', stop);
    request.once('response', (incoming) => {
      release();
      const cut = (): void => void incoming.destroy(signal?.reason);
      signal?.addEventListener('abort', cut, { once: true });
      incoming.once('close', () => signal?.removeEventListener('abort', cut));
      resolve(incoming);
    });
    // After the answer, too: the reader of the body notices that part of it is missing.
    request.on('error', (error) => {
      release();
      reject(request.failureOf?.(error) ?? error);
    });
    request.end(body);
  });
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return headers;
}
