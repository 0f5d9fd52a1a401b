/** A bare client of the simulated tunnel: sends what a test says, and tells what came. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { zone } from './furnished.js';
import { owner, project, type ReadyCloud } from './ready-cloud.js';

export interface Wire {
  /** Frames as they came. */
  readonly frames: Buffer[];
  /** The bytes of the data frames. */
  data(): Buffer;
  /** The session id of a tunnel that stands. */
  sid(): string;
  /** Waits for the connection's first frame, or for its end. */
  readonly begun: Promise<void>;
  readonly closed: Promise<string>;
  send(tag: number, ...parts: (Buffer | string)[]): void;
  sendData(bytes: Buffer | string): void;
  acknowledge(total: number): void;
  readonly socket: WebSocket;
  /** Waits until so many bytes of data have come. */
  received(total: number): Promise<Buffer>;
}

export interface Opening {
  readonly as?: string;
  readonly token?: string;
  readonly origin?: string;
  readonly protocols?: string[];
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
}

const uint64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
};
const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

export const target = { project, zone, instance: 'jumpbox', interface: 'nic0', port: '22', newWebsocket: 'True' };

export function openWire(cloud: ReadyCloud, opening: Opening = {}): Wire {
  const { as = owner, origin = 'bot:iap-tunneler', protocols = ['relay.tunnel.cloudproxy.app'] } = opening;
  const { token = cloud.identity.accessToken(as), path = 'connect', query = target } = opening;
  const url = `${cloud.tunnel.url}/${path}?${new URLSearchParams(query)}`;
  const authorization = token === '' ? {} : { authorization: `Bearer ${token}` };
  const socket = new WebSocket(url, protocols, { origin, headers: authorization, perMessageDeflate: false });
  const frames: Buffer[] = [];
  const data = (): Buffer =>
    Buffer.concat(frames.filter((one) => one.readUInt16BE(0) === 4).map((one) => one.subarray(6)));
  const closed = new Promise<string>((resolve) => {
    socket.on('unexpected-response', (_request, response) => {
      resolve(`HTTP ${response.statusCode}`);
      socket.terminate();
    });
    socket.on('error', () => undefined);
    socket.on('close', (code, reason) => resolve(`${code} ${reason}`.trim()));
  });
  socket.on('message', (message: Buffer) => void frames.push(message));
  const send: Wire['send'] = (tag, ...parts) => {
    const head = Buffer.alloc(2);
    head.writeUInt16BE(tag);
    socket.send(Buffer.concat([head, ...parts.map((one) => Buffer.from(one))]));
  };
  return {
    socket,
    frames,
    data,
    sid: () => frames[0]?.subarray(6).toString() ?? '',
    begun: Promise.race([once(socket, 'message').then(() => undefined), closed.then(() => undefined)]).catch(
      () => undefined,
    ),
    closed,
    send,
    sendData: (bytes) => send(4, uint32(Buffer.byteLength(bytes)), Buffer.from(bytes)),
    acknowledge: (total) => send(7, uint64(total)),
    async received(total) {
      while (data().length < total) await once(socket, 'message');
      return data();
    },
  };
}
