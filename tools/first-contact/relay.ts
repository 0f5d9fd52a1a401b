/** Stands on loopback between the clients and each API, and tells of every exchange. The clients differ in nothing. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { GoogleApi } from '../../functions/config.js';

export type Endpoints = Readonly<Record<GoogleApi, string>>;

export interface Seen {
  readonly api: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly token: string | undefined;
  readonly request: string;
  readonly status: number;
  readonly response: string;
  readonly milliseconds: number;
}

export interface Relay {
  /** In the place of Google's. */
  readonly endpoints: Endpoints;
  close(): Promise<void>;
}

/** They belong to one connection, or fetch sets them. */
const ownHeaders = ['host', 'connection', 'content-length', 'accept-encoding', 'transfer-encoding', 'keep-alive'];
const ofReply = ['content-length', 'content-encoding', 'transfer-encoding', 'connection', 'keep-alive'];

function headersOf(from: IncomingHttpHeaders): [string, string][] {
  return Object.entries(from).flatMap(([name, value]): [string, string][] =>
    value === undefined || ownHeaders.includes(name) ? [] : [[name, [value].flat().join(', ')]],
  );
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

async function relayed(
  base: string,
  api: string,
  tell: (seen: Seen) => void,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', url = '/' } = request;
  const sent = await bodyOf(request);
  const begun = performance.now();
  const reply = await fetch(`${base}${url}`, {
    method,
    headers: headersOf(request.headers),
    redirect: 'manual',
    ...(sent === '' ? {} : { body: sent }),
  });
  const text = await reply.text();
  const token = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const milliseconds = Math.round(performance.now() - begun);
  tell({ api, method, path: url, token, request: sent, status: reply.status, response: text, milliseconds });
  const headers = Object.fromEntries([...reply.headers].filter(([name]) => !ofReply.includes(name)));
  response.writeHead(reply.status, headers).end(text);
}

export async function startRelay(bases: Endpoints, tell: (seen: Seen) => void): Promise<Relay> {
  const servers: Server[] = [];
  const endpoints: [string, string][] = [];
  for (const [api, base] of Object.entries(bases)) {
    const server = createServer((request, response) => {
      // A client takes a broken connection for what it is.
      relayed(base, api, tell, request, response).catch(() => response.destroy());
    });
    // A client that sends on a connection which closes at that moment could not tell whether it was heard.
    server.keepAliveTimeout = 0;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    servers.push(server);
    endpoints.push([api, `http://127.0.0.1:${(server.address() as AddressInfo).port}`]);
  }
  return {
    endpoints: Object.fromEntries(endpoints) as Endpoints,
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}
