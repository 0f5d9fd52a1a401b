/** Reaches an API server over TLS with its CA. It goes through HTTPS_PROXY if the machine sets it, as Go programs do. */
import { type ClientRequest, request as httpRequest } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import type { Access } from './kube-config.js';

const isOwn = (host: string): boolean => host === 'localhost' || host.startsWith('127.');

function proxyFor(host: string): URL | undefined {
  const named = process.env['HTTPS_PROXY'] ?? process.env['https_proxy'] ?? '';
  const without = (process.env['NO_PROXY'] ?? '').split(',').map((each) => each.trim());
  return named === '' || isOwn(host) || without.includes(host) ? undefined : new URL(named);
}

const tunnel = (proxy: URL, target: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const asked: ClientRequest = httpRequest({
      host: proxy.hostname,
      port: proxy.port,
      method: 'CONNECT',
      path: target,
    });
    asked.setTimeout(10_000, () => asked.destroy(new Error(`dial tcp ${target}: i/o timeout`)));
    asked.once('error', reject);
    asked.once('connect', ({ statusCode }, socket: Socket) => {
      socket.setTimeout(0);
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(new Error(`dial tcp ${target}: connect: connection refused`));
    });
    asked.end();
  });

interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Api {
  ask(method: string, path: string, body?: unknown, contentType?: string): Promise<Reply>;
}

/** Keeps one connection open. */
export function reachApi({ server, ca, token, certificate, key }: Access): Api {
  const { hostname, port } = new URL(server);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const proxy = proxyFor(hostname);
  const tls = { ca, cert: certificate, key, ...(isIP(hostname) === 0 ? { servername: hostname } : {}) };
  if (proxy !== undefined) {
    const through = (_: object, done: (error: Error | null, socket?: Socket) => void): undefined => {
      tunnel(proxy, `${hostname}:${port}`).then(
        (socket) => {
          const secure = connectTls({ ...tls, socket, host: hostname });
          secure.once('error', (error) => done(error));
          secure.once('secureConnect', () => done(null, secure));
        },
        (error: Error) => done(error),
      );
    };
    Object.assign(agent, { createConnection: through });
  }
  return {
    ask: (method, path, body, contentType = 'application/json') =>
      new Promise((resolve, reject) => {
        const content = body === undefined ? undefined : JSON.stringify(body);
        const headers = {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(content === undefined
            ? {}
            : { 'content-type': contentType, 'content-length': Buffer.byteLength(content) }),
        };
        const asked = httpsRequest({ host: hostname, port, method, path, headers, agent, ...tls });
        asked.setTimeout(10_000, () => asked.destroy(new Error(`${method} "${server}${path}": i/o timeout`)));
        asked.once('error', reject);
        asked.once('response', (response) => {
          text(response).then((said) => {
            const isJson = response.headers['content-type']?.includes('json') === true;
            resolve({ status: response.statusCode ?? 0, body: isJson ? JSON.parse(said) : { message: said } });
          }, reject);
        });
        asked.end(content);
      }),
  };
}

/** Throws the server's message if it refuses. */
export async function mustAsk(api: Api, method: string, path: string, body?: unknown, contentType?: string) {
  const reply = await api.ask(method, path, body, contentType);
  if (reply.status >= 300) throw new Error(String(reply.body['message'] ?? `status ${reply.status}`));
  return reply.body;
}
