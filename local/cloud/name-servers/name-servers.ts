/**
 * DNS on loopback, by UDP and TCP: each name server of Cloud DNS on an address of its own, and a resolver on 127.0.0.1. All
 * share one port.
 */
import { createSocket, type Socket } from 'node:dgram';
import { type Socket as Connection, createServer, type Server } from 'node:net';
import type { World } from '../kernel/api.js';
import { serverAddresses } from './addresses.js';
import { answerOf } from './authority.js';
import { plainReply, type Question, type Reply } from './reply.js';
import { resolve } from './resolver.js';
import { read, write, writtenTypes } from './wire.js';

export interface NameServers {
  readonly port: number;
  /** `127.0.0.1:<port>` */
  readonly resolver: string;
  /** The address of each name server by its name. Empty where only 127.0.0.1 can be bound. */
  readonly addresses: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

type Answer = (question: Question) => Reply;

interface Listener {
  close(): Promise<void>;
}

const resolverAddress = '127.0.0.1';
const tries = 20;

/** Port 0 means any that is free for both UDP and TCP. A port that is taken is replaced, as `listenNear` does. */
export async function startNameServers(world: World, port = 0): Promise<NameServers> {
  const resolver = await startResolver((question) => resolve(world, question), port);
  const names = Object.entries(serverAddresses);
  const started = await Promise.allSettled(
    names.map(([name, address]) => listen(address, resolver.port, false, (asked) => answerOf(world, name, asked))),
  );
  const listeners = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const all = [resolver, ...listeners];
  // A part of the servers would look like an outage.
  const isWhole = listeners.length === names.length;
  if (!isWhole) await Promise.all(listeners.map((each) => each.close()));
  return {
    port: resolver.port,
    resolver: `${resolverAddress}:${resolver.port}`,
    addresses: isWhole ? serverAddresses : {},
    async close() {
      await Promise.all((isWhole ? all : [resolver]).map((each) => each.close()));
    },
  };
}

async function startResolver(answer: Answer, port: number): Promise<Listener & { readonly port: number }> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await listen(resolverAddress, attempt === 1 ? port : 0, true, answer);
    } catch (error) {
      if (attempt === tries || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

/** Listens on one address by UDP and TCP. */
async function listen(
  address: string,
  port: number,
  recurses: boolean,
  answer: Answer,
): Promise<Listener & { readonly port: number }> {
  const reply = (bytes: Buffer, isUdp: boolean): Buffer | undefined => {
    const asked = read(bytes);
    if (asked === undefined) return undefined;
    return write(asked, replyTo(asked.question, answer), recurses, isUdp);
  };
  const udp = createSocket('udp4');
  const taken = await bound(udp, address, port);
  udp.on('message', (bytes, { address: host, port: from }) => {
    const message = reply(bytes, true);
    if (message !== undefined) udp.send(message, from, host);
  });
  const open = new Set<Connection>();
  const tcp = createServer((connection) => {
    open.add(connection);
    connection.on('close', () => open.delete(connection));
    serve(connection, (bytes) => reply(bytes, false));
  });
  const closeUdp = () => new Promise<void>((done) => udp.close(() => done()));
  await listening(tcp, address, taken).catch(async (error: unknown) => {
    await closeUdp();
    throw error;
  });
  return {
    port: taken,
    async close() {
      for (const connection of open) connection.destroy();
      await Promise.all([closeUdp(), new Promise<void>((done) => tcp.close(() => done()))]);
    },
  };
}

function replyTo(question: Question | undefined, answer: Answer): Reply {
  if (question === undefined) return plainReply('FORMERR');
  const reply = answer(question);
  const all = [...reply.answers, ...reply.authorities];
  return all.every(({ type }) => writtenTypes.includes(type)) ? reply : plainReply('NOTIMP');
}

const bound = (udp: Socket, address: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    udp.once('error', (error) => {
      udp.close();
      reject(error);
    });
    udp.bind(port, address, () => {
      udp.removeAllListeners('error').on('error', () => undefined);
      resolve(udp.address().port);
    });
  });

const listening = (tcp: Server, address: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    tcp.once('error', reject);
    tcp.listen(port, address, () => {
      tcp.off('error', reject);
      resolve();
    });
  });

/** By TCP, each message has its length in two bytes before it. */
function serve(connection: Connection, reply: (bytes: Buffer) => Buffer | undefined): void {
  let rest: Buffer = Buffer.alloc(0);
  connection.on('error', () => connection.destroy());
  connection.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
      const end = 2 + rest.readUInt16BE(0);
      const message = reply(rest.subarray(2, end));
      rest = rest.subarray(end);
      if (message === undefined) return connection.destroy();
      const length = Buffer.alloc(2);
      length.writeUInt16BE(message.length);
      connection.write(Buffer.concat([length, message]));
    }
  });
}
