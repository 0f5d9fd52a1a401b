/**
 * DNS on loopback: each name server of Cloud DNS on an address of its own, and a resolver on 127.0.0.1. All share one port.
 * It is by UDP alone, because no reply is cut.
 */
import { createSocket, type Socket } from 'node:dgram';
import type { World } from '../kernel/api.js';
import { answerOf } from './authority.js';
import { plainReply, type Question, type Reply, serverAddresses } from './reply.js';
import { resolve } from './resolver.js';
import { read, write, writtenTypes } from './wire.js';

export interface NameServers {
  readonly port: number;
  /** `127.0.0.1:<port>` */
  readonly resolver: string;
  /** The address of each name server by its name. Empty where only 127.0.0.1 can be bound. */
  readonly addresses: Readonly<Record<string, string>>;
  /** A test that sets it decides what a server sends: something else, the same later, or nothing. `''` is the resolver. */
  disturb: ((server: string, reply: Reply) => Reply | undefined | Promise<Reply | undefined>) | undefined;
  close(): Promise<void>;
}

const resolverAddress = '127.0.0.1';

/** Port 0 means any free one. A port that is taken is replaced, as `listenNear` does. */
export async function startNameServers(world: World, port = 0): Promise<NameServers> {
  const answer = async (server: string, question: Question | undefined): Promise<Reply | undefined> => {
    const reply = replyTo(question, (asked) =>
      server === '' ? resolve(world, asked) : answerOf(world, server, asked),
    );
    return names.disturb === undefined ? reply : names.disturb(server, reply);
  };
  const resolverAt = (at: number): Promise<Socket> => listen(resolverAddress, at, true, (asked) => answer('', asked));
  const resolver = await resolverAt(port).catch((error: NodeJS.ErrnoException) => {
    if (port === 0 || error.code !== 'EADDRINUSE') throw error;
    return resolverAt(0);
  });
  const taken = resolver.address().port;
  const started = await Promise.allSettled(
    Object.entries(serverAddresses).map(([name, address]) =>
      listen(address, taken, false, (asked) => answer(name, asked)),
    ),
  );
  const servers = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  // A part of the servers would look like an outage.
  const isWhole = servers.length === started.length;
  if (!isWhole) await Promise.all(servers.splice(0).map(closed));
  const names: NameServers = {
    port: taken,
    resolver: `${resolverAddress}:${taken}`,
    addresses: isWhole ? serverAddresses : {},
    disturb: undefined,
    async close() {
      await Promise.all([resolver, ...servers].map(closed));
    },
  };
  return names;
}

function replyTo(question: Question | undefined, answer: (question: Question) => Reply): Reply {
  if (question === undefined) return plainReply('FORMERR');
  const reply = answer(question);
  const all = [...reply.answers, ...reply.authorities];
  return all.every(({ type }) => writtenTypes.includes(type)) ? reply : plainReply('NOTIMP');
}

type Answer = (question: Question | undefined) => Promise<Reply | undefined>;

function listen(address: string, port: number, recurses: boolean, answer: Answer): Promise<Socket> {
  const socket = createSocket('udp4');
  let isOpen = true;
  socket.on('close', () => {
    isOpen = false;
  });
  socket.on('message', async (bytes, { address: host, port: from }) => {
    const asked = read(bytes);
    const reply = asked === undefined ? undefined : await answer(asked.question);
    // A late reply may find the socket closed.
    if (asked === undefined || reply === undefined || !isOpen) return;
    socket.send(write(asked, reply, recurses), from, host);
  });
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close();
      reject(error);
    });
    socket.bind(port, address, () => {
      socket.removeAllListeners('error').on('error', () => undefined);
      resolve(socket);
    });
  });
}

const closed = (socket: Socket): Promise<void> => new Promise((done) => socket.close(() => done()));
