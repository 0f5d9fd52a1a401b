/**
 * The way out of a VM for its programs: SOCKS 5, HTTP CONNECT and plain HTTP on 127.0.0.1:1080 in its network. The environment
 * of its sessions and services names it. Each connection goes through the fabric.
 */
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import type { Answer } from './fabric.js';
import { join } from './streams.js';

type Connect = (address: string, port: number) => Promise<Answer>;

export interface Outbound {
  /** Takes a connection that a program of the VM made. */
  take(socket: Socket): void;
  close(): void;
}

export function createOutbound(connect: Connect): Outbound {
  const open = new Set<Socket>();
  const http = httpProxy(connect);
  return {
    take(socket) {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      socket.on('error', () => socket.destroy());
      socket.setNoDelay(true);
      socket.once('data', (first: Buffer) => {
        socket.pause();
        if (first[0] === 5) return void socks(connect, socket, first).catch(() => socket.destroy());
        socket.unshift(first);
        http.emit('connection', socket);
        // Only a flowing stream reads what was put back.
        socket.resume();
      });
    },
    close() {
      for (const socket of open) socket.destroy();
      http.close();
    },
  };
}

/** Waits without an answer. The caller decides how long. */
const silence = (socket: Duplex): void => {
  socket.once('end', () => socket.destroy());
  socket.resume();
};

function httpProxy(connect: Connect): Server {
  const server = createServer((request, response) => void forward(connect, request, response));
  server.on('connect', (request, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const { hostname, port } = new URL(`http://${request.url}`);
    connect(hostname, Number(port) || 80).then(
      (found) => {
        if (found.kind === 'dropped') return silence(socket);
        if (found.kind === 'refused') return void socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        if (head.length > 0) socket.unshift(head);
        join(socket, found.stream);
      },
      () => socket.destroy(),
    );
  });
  return server;
}

async function forward(connect: Connect, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const url = new URL(request.url ?? '');
    const found = await connect(url.hostname, Number(url.port) || 80);
    if (found.kind === 'dropped') return;
    if (found.kind === 'refused') return void response.writeHead(502).end();
    const { method, headers } = request;
    const asked = httpRequest({
      method,
      headers,
      path: url.pathname + url.search,
      createConnection: () => found.stream,
    });
    asked.on('response', (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      // If one end breaks, the other must not take half an answer for a whole one.
      pipeline(reply, response, () => undefined);
    });
    asked.on('error', () => response.destroy());
    response.on('close', () => asked.destroy());
    request.pipe(asked);
  } catch {
    response.writeHead(400).end('an absolute URL is needed\n');
  }
}

/** SOCKS 5 (RFC 1928), only CONNECT, without authentication. */
async function socks(connect: Connect, socket: Socket, first: Buffer): Promise<void> {
  let waiting = first;
  const take = async (length: number): Promise<Buffer> => {
    while (waiting.length < length) {
      const more = (await once(socket)) as Buffer;
      waiting = Buffer.concat([waiting, more]);
    }
    const taken = waiting.subarray(0, length);
    waiting = waiting.subarray(length);
    return taken;
  };
  const greeting = await take(2);
  await take(greeting[1] ?? 0);
  socket.write(Buffer.from([5, 0]));
  const head = await take(4);
  let address: string;
  if (head[3] === 1) address = (await take(4)).join('.');
  else if (head[3] === 3) address = (await take((await take(1))[0] ?? 0)).toString();
  else return void socket.end(Buffer.from([5, 8, 0, 1, 0, 0, 0, 0, 0, 0]));
  const port = (await take(2)).readUInt16BE();
  const say = (code: number): void => void socket.write(Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]));
  if (head[1] !== 1) {
    say(7);
    return void socket.end();
  }
  const found = await connect(address, port);
  if (found.kind === 'dropped') return silence(socket);
  if (found.kind === 'refused') {
    say(5);
    return void socket.end();
  }
  say(0);
  if (waiting.length > 0) socket.unshift(waiting);
  join(socket, found.stream);
}

const once = (socket: Socket): Promise<unknown> =>
  new Promise((resolve, reject) => {
    socket.once('data', (data) => {
      socket.pause();
      resolve(data);
    });
    socket.once('close', () => reject(new Error('closed')));
    socket.resume();
  });
