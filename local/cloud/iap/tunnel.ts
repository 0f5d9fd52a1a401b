/**
 * IAP's TCP forwarding (`wss://tunnel.cloudproxy.app/v4`), without TLS. It carries connections to VMs that have no public
 * address. Machines say how a VM is reached.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type WebSocket, WebSocketServer } from 'ws';
import { listenNear } from '../../loopback.js';
import type { Caller, World } from '../kernel/api.js';
import { createSession, type Session } from './session.js';
import { mayTunnel, readTarget, refusalOf, type Target } from './target.js';
import { closings, largestData, origin, subprotocol } from './wire.js';

/** `dropped`: no answer comes, as when a firewall drops packets. */
export type Reached =
  | { readonly kind: 'open'; readonly stream: Duplex }
  | { readonly kind: 'refused' }
  | { readonly kind: 'dropped' };

/** Connects from IAP's range to a port of a VM, by the VM's path. */
type Reach = (path: string, port: number) => Promise<Reached>;

export interface Tunnel {
  /** `ws://127.0.0.1:<port>/v4` */
  readonly url: string;
  readonly port: number;
  /** How VMs are reached from now on. Before, no tunnel finds a backend. */
  leadTo(reach: Reach): void;
  /** The tunnels that stand, carried by a WebSocket or waiting for one. */
  list(): readonly (Target & { readonly caller: string; readonly isCarried: boolean })[];
  /** Breaks all WebSockets, or closes them and asks for a new login. The tunnels wait for their clients. */
  cut(how?: 'broken' | 'reauthenticate'): void;
  /** Ends all tunnels. */
  forget(): void;
  close(): Promise<void>;
}

export interface TunnelOptions {
  readonly world: World;
  readonly callerOf: (token: string) => Caller | undefined;
  readonly port: number;
  /** How long a tunnel waits for its client to come back. Default: a minute. */
  readonly keepMilliseconds?: number;
}

/** Cloud seconds until IAP gives up on a VM that does not answer. */
const connectSeconds = 10;
const statusTexts: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  501: 'Not Implemented',
};

interface Entry extends Target {
  readonly session: Session;
  readonly caller: Caller;
}

/** What a client asks for. */
type Wish =
  | { readonly kind: 'connect'; readonly target: Target; readonly nic: string }
  | { readonly kind: 'reconnect'; readonly sid: string; readonly total: number };

/** The wish in a request, or the HTTP status that refuses it. */
function readWish(world: World, { pathname, searchParams: query }: URL): Wish | number {
  if (pathname === '/v4/connect') {
    const target = readTarget(world, query);
    return typeof target === 'number' ? target : { kind: 'connect', target, nic: query.get('interface') ?? '' };
  }
  if (pathname !== '/v4/reconnect') return 404;
  const sid = query.get('sid') ?? '';
  const ack = query.get('ack') ?? '';
  if (sid === '' || !query.get('zone') || !/^\d{1,15}$/.test(ack)) return 400;
  return { kind: 'reconnect', sid, total: Number(ack) };
}

const offers = (request: IncomingMessage): boolean =>
  (request.headers['sec-websocket-protocol'] ?? '').split(',').some((one) => one.trim() === subprotocol);

/** Everything that a request says before it becomes a WebSocket. */
function admit({ world, callerOf }: TunnelOptions, request: IncomingMessage): { caller: Caller; wish: Wish } | number {
  world.runDue();
  const wish = readWish(world, new URL(request.url ?? '/', 'http://loopback'));
  if (typeof wish === 'number') return wish;
  if (request.headers.origin !== origin) return 403;
  if (!offers(request)) return 400;
  const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
  const caller = token === undefined ? undefined : callerOf(token);
  return caller === undefined ? 401 : { caller, wish };
}

/** Connects to the VM, or says why that is not possible. */
async function backendOf(world: World, reach: Reach | undefined, caller: Caller, target: Target, nic: string) {
  if (!mayTunnel(world, caller, target)) return closings.notAuthorized;
  const refusal = refusalOf(world, target, nic);
  if (refusal !== undefined) return refusal;
  const reached: Reached = (await reach?.(target.path, target.port)) ?? { kind: 'refused' };
  if (reached.kind === 'dropped') await sleep(world.scaled(connectSeconds), undefined, { ref: false });
  return reached.kind === 'open' ? reached.stream : closings.noBackend;
}

/** The tunnels that stand, and how they come to be. */
function createTunnels({ world, keepMilliseconds = 60_000 }: TunnelOptions) {
  const entries = new Map<string, Entry>();
  let reach: Reach | undefined;
  const sessions = (): Session[] => [...entries.values()].map(({ session }) => session);

  return {
    async connect(socket: WebSocket, caller: Caller, target: Target, nic: string): Promise<void> {
      const backend = await backendOf(world, reach, caller, target, nic);
      if (!('pipe' in backend)) {
        socket.close(...backend);
        return;
      }
      if (socket.readyState !== socket.OPEN) {
        backend.destroy();
        return;
      }
      const sid = randomBytes(24).toString('base64url');
      const session = createSession({ sid, backend, keepMilliseconds, onEnd: () => entries.delete(sid) });
      entries.set(sid, { path: target.path, port: target.port, caller, session });
      session.begin(socket);
    },
    reconnect(socket: WebSocket, caller: Caller, sid: string, total: number): void {
      const entry = entries.get(sid);
      if (entry === undefined || entry.caller.email !== caller.email) socket.close(...closings.sidUnknown);
      else if (!mayTunnel(world, caller, entry)) socket.close(...closings.notAuthorized);
      else if (entry.session.isCarried()) socket.close(...closings.sidInUse);
      else entry.session.resume(socket, total);
    },
    leadTo(to: Reach): void {
      reach = to;
    },
    list: () =>
      [...entries.values()].map(({ path, port, caller, session }) => ({
        ...{ path, port, caller: caller.email },
        isCarried: session.isCarried(),
      })),
    cut(how: 'broken' | 'reauthenticate' = 'broken'): void {
      const closing = how === 'broken' ? undefined : closings.reauthenticate;
      for (const session of sessions()) session.cut(closing);
    },
    forget(): void {
      for (const session of sessions()) session.end();
    },
  };
}

export async function startTunnel(options: TunnelOptions): Promise<Tunnel> {
  const { connect, reconnect, ...controls } = createTunnels(options);
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: 4 * largestData,
    handleProtocols: () => subprotocol,
  });
  const server = await listenNear((_request, response) => {
    response.writeHead(400, { 'content-type': 'text/plain' }).end('This server takes WebSockets alone.\n');
  }, options.port);
  server.server.on('upgrade', (request, socket, head) => {
    const admitted = admit(options, request);
    if (typeof admitted === 'number') {
      socket.end(`HTTP/1.1 ${admitted} ${statusTexts[admitted]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const { caller, wish } = admitted;
    sockets.handleUpgrade(request, socket, head, (opened) => {
      opened.on('error', () => undefined);
      if (wish.kind === 'reconnect') reconnect(opened, caller, wish.sid, wish.total);
      else void connect(opened, caller, wish.target, wish.nic);
    });
  });
  return {
    ...controls,
    url: `${server.url.replace('http:', 'ws:')}/v4`,
    port: server.port,
    async close() {
      controls.forget();
      for (const socket of sockets.clients) socket.terminate();
      await server.close();
    },
  };
}
