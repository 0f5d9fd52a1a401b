/** A company's network: a proxy that alone leads out, and names outside that only it knows. */
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';

export interface ForwardProxy {
  /** `http://127.0.0.1:<port>`, with the credentials that it wants. */
  readonly url: string;
  /** `CONNECT plinth.example:443`, in order. */
  readonly asked: string[];
  close(): Promise<void>;
}

interface ProxyOptions {
  /** Ports on loopback by `host:port`. To anything else it answers 502. */
  readonly leadsTo?: Readonly<Record<string, number>>;
  /** `user:password`. Without it, it answers 407. */
  readonly wants?: string;
  /** Answers each request with this status. */
  readonly refusesWith?: number;
}

const close = (server: Server, open: Set<Duplex>): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of open) socket.destroy();
  });

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

/** Every connection of a server, to end them with it. */
function connectionsOf(server: Server): Set<Duplex> {
  const open = new Set<Duplex>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => open.delete(socket));
  });
  return open;
}

function carry(one: Duplex, port: number, greeting: string): void {
  const other = connect(port, '127.0.0.1', () => {
    one.write(greeting);
    one.pipe(other);
    other.pipe(one);
  });
  one.on('error', () => other.destroy());
  other.on('error', () => one.destroy());
  one.once('close', () => other.destroy());
  other.once('close', () => one.destroy());
}

export async function startForwardProxy({
  leadsTo = {},
  wants,
  refusesWith,
}: ProxyOptions = {}): Promise<ForwardProxy> {
  const asked: string[] = [];
  const refusalOf = ({ headers }: IncomingMessage): number | undefined => {
    const given = Buffer.from(headers['proxy-authorization']?.replace(/^Basic /, '') ?? '', 'base64').toString();
    return refusesWith ?? (wants !== undefined && given !== wants ? 407 : undefined);
  };
  const server = createHttpServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(refusalOf(request) ?? 502).end();
  });
  const open = connectionsOf(server);
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    const { url = '' } = request;
    asked.push(`CONNECT ${url}`);
    const port = leadsTo[url];
    const refusal = refusalOf(request) ?? (port === undefined ? 502 : undefined);
    if (port === undefined || refusal !== undefined) return socket.end(`HTTP/1.1 ${refusal} No\r\n\r\n`);
    carry(socket, port, 'HTTP/1.1 200 Connection established\r\n\r\n');
  });
  const port = await listen(server);
  const credentials = wants === undefined ? '' : `${wants.split(':').map(encodeURIComponent).join(':')}@`;
  return { url: `http://${credentials}127.0.0.1:${port}`, asked, close: () => close(server, open) };
}

export interface Listener {
  readonly port: number;
  close(): Promise<void>;
}

/** TLS in front of a port on loopback. */
export async function startTlsFront(certificate: { key: string; cert: string }, to: number): Promise<Listener> {
  const server = createTlsServer(certificate, (socket) => carry(socket, to, ''));
  const open = connectionsOf(server);
  return { port: await listen(server), close: () => close(server, open) };
}

export interface Mute extends Listener {
  /** Resolves with the first bytes of a client. */
  readonly reached: Promise<void>;
}

/** Takes connections and says this to each, or nothing. */
export async function startMute(says = ''): Promise<Mute> {
  let arrived = (): void => undefined;
  const reached = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const server = createServer((socket) => {
    socket.on('data', () => arrived());
    if (says !== '') socket.write(says);
  });
  const open = connectionsOf(server);
  return { port: await listen(server), reached, close: () => close(server, open) };
}
