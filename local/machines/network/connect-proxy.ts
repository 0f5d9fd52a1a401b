/** HTTP CONNECT on loopback: the way from this computer to simulated VMs with an external address (PLINTH_SSH_PROXY). */
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Answer, Fabric } from './fabric.js';
import { type Joint, join } from './streams.js';

export interface ConnectProxy {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly port: number;
  /** Breaks all open connections. With `silently`, the clients get no notice and hear nothing more. */
  cut(silently: boolean): void;
  close(): Promise<void>;
}

/** Linux gives up on a silent address after this time. */
const connectTimeoutSeconds = 127;

const say = (socket: Duplex, status: string): void =>
  void socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);

export async function startConnectProxy(fabric: Fabric, port = 0): Promise<ConnectProxy> {
  const open = new Set<Duplex>();
  const joints = new Set<Joint>();
  const server = createServer((_request, response) => {
    response.writeHead(405, { 'content-type': 'text/plain', allow: 'CONNECT' });
    response.end('This proxy leads to simulated VMs, and takes CONNECT <address>:<port> alone.\n');
  });
  server.on('connect', (request, socket: Duplex, head: Buffer) => {
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => open.delete(socket));
    void answer(fabric, request.url ?? '', socket, head, joints);
  });
  const start = (wanted: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(wanted, '127.0.0.1', () => resolve());
    });
  await start(port).catch((error: NodeJS.ErrnoException) => {
    if (port === 0 || error.code !== 'EADDRINUSE') throw error;
    return start(0);
  });
  const taken = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${taken}`,
    port: taken,
    cut(silently) {
      for (const joint of [...joints]) joint.cut(silently);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const socket of open) socket.destroy();
      }),
  };
}

async function answer(fabric: Fabric, target: string, socket: Duplex, head: Buffer, joints: Set<Joint>): Promise<void> {
  const [, address, port] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(target) ?? [];
  if (address === undefined || port === undefined) return say(socket, '400 Bad Request');
  const found: Answer = await fabric.connect('world', address, Number(port)).catch(() => ({ kind: 'refused' }));
  if (socket.destroyed) {
    if (found.kind === 'open') found.stream.destroy();
    return;
  }
  if (found.kind === 'refused') return say(socket, '502 Bad Gateway');
  if (found.kind === 'dropped') {
    const timer = setTimeout(() => say(socket, '504 Gateway Timeout'), connectTimeoutSeconds * 1000);
    timer.unref();
    socket.resume();
    socket.once('close', () => clearTimeout(timer));
    socket.once('end', () => socket.destroy());
    return;
  }
  (socket as Socket).setNoDelay(true);
  socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
  if (head.length > 0) socket.unshift(head);
  const joint = join(socket, found.stream, () => joints.delete(joint));
  joints.add(joint);
}
