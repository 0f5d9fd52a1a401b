/**
 * One tunnel: the connection to a VM, and the WebSocket that carries it now. A tunnel outlives its WebSocket for a while. It
 * keeps what the client has not acknowledged, and sends it again on the next one.
 */
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import {
  acknowledgementFrame,
  type Closing,
  closings,
  connectedFrame,
  dataFrame,
  largestData,
  readFrame,
  reconnectedFrame,
} from './wire.js';

export interface Session {
  readonly sid: string;
  /** Whether a WebSocket carries it now. */
  isCarried(): boolean;
  begin(socket: WebSocket): void;
  /** Goes on where the client stopped: it has `total` bytes. */
  resume(socket: WebSocket, total: number): void;
  /** Closes the WebSocket and keeps the tunnel. Without a closing, the connection breaks. */
  cut(closing?: Closing): void;
  /** Ends both connections. */
  end(): void;
}

export interface SessionOptions {
  readonly sid: string;
  readonly backend: Duplex;
  /** How long a tunnel waits for its client to come back. */
  readonly keepMilliseconds: number;
  readonly onEnd: () => void;
}

/** So much may be on its way to a client that acknowledges nothing. */
const window = 1024 * 1024;
/** gcloud's client acknowledges after two frames of the largest size. So does this end. */
const unacknowledged = 2 * largestData;

interface State {
  readonly backend: Duplex;
  socket: WebSocket | undefined;
  /** Bytes of the VM that the client has not acknowledged, and the totals before and after them. */
  kept: Buffer[];
  acknowledged: number;
  sent: number;
  /** Bytes of the client, and how many of them it knows to be here. */
  received: number;
  told: number;
  /** Why the VM's connection is over, once it is. */
  over: Closing | undefined;
}

const send = ({ socket }: State, frame: Buffer): void => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(frame, () => undefined);
};

function forget(state: State, total: number): void {
  let left = total - state.acknowledged;
  state.acknowledged = total;
  while (left > 0) {
    const first = state.kept.shift();
    if (first === undefined) return;
    if (first.length > left) state.kept.unshift(first.subarray(left));
    left -= first.length;
  }
}

/** Takes the VM's bytes, as long as the client keeps up. */
function follow(state: State): void {
  const { backend } = state;
  const finish = (closing: Closing): void => {
    if (state.over !== undefined) return;
    state.over = closing;
    state.socket?.close(...closing);
  };
  backend.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; at += largestData) {
      const part = Buffer.from(chunk.subarray(at, at + largestData));
      state.kept.push(part);
      state.sent += part.length;
      send(state, dataFrame(part));
    }
    if (state.sent - state.acknowledged >= window) backend.pause();
  });
  backend.once('end', () => finish(closings.normal));
  backend.once('error', () => finish(closings.readFailed));
  backend.once('close', () => finish(closings.readFailed));
}

/** Handles one message of the client. Returns why the WebSocket must be closed, if it must. */
function take(state: State, socket: WebSocket, message: Buffer, isBinary: boolean): Closing | undefined {
  if (!isBinary) return closings.invalidOpcode;
  const frame = readFrame(message);
  if (frame.kind === 'fault') return frame.closing;
  if (frame.kind === 'acknowledgement') {
    if (frame.total > state.sent) return closings.invalidAck;
    if (frame.total < state.acknowledged) return closings.badAck;
    forget(state, frame.total);
    if (state.sent - state.acknowledged < window) state.backend.resume();
    return undefined;
  }
  if (state.over !== undefined) return undefined;
  if (!state.backend.writable) return closings.writeFailed;
  state.received += frame.bytes.length;
  if (!state.backend.write(Buffer.from(frame.bytes)) && !socket.isPaused) {
    socket.pause();
    state.backend.once('drain', () => socket.resume());
  }
  if (state.received - state.told > unacknowledged) {
    state.told = state.received;
    send(state, acknowledgementFrame(state.received));
  }
  return undefined;
}

export function createSession({ sid, backend, keepMilliseconds, onEnd }: SessionOptions): Session {
  const state: State = {
    ...{ backend, socket: undefined, kept: [], over: undefined },
    ...{ acknowledged: 0, sent: 0, received: 0, told: 0 },
  };
  let waiting: NodeJS.Timeout | undefined;

  const end = (): void => {
    clearTimeout(waiting);
    state.socket?.terminate();
    backend.destroy();
    onEnd();
  };
  const wait = (): void => {
    state.socket = undefined;
    waiting = setTimeout(end, keepMilliseconds).unref();
  };

  function carry(socket: WebSocket): void {
    clearTimeout(waiting);
    state.socket = socket;
    let isResumable = true;
    socket.on('error', () => undefined);
    socket.on('message', (message: Buffer, isBinary) => {
      if (state.socket !== socket) return;
      const fault = take(state, socket, message, isBinary);
      if (fault === undefined) return;
      isResumable = false;
      socket.close(...fault);
    });
    socket.once('close', (code) => {
      if (state.socket !== socket) return;
      // Without a closing handshake, the client may have missed the last bytes.
      if (code === 1006 && isResumable) wait();
      else end();
    });
  }

  return {
    sid,
    isCarried: () => state.socket !== undefined,
    begin(socket) {
      carry(socket);
      send(state, connectedFrame(sid));
      follow(state);
    },
    resume(socket, total) {
      if (total < state.acknowledged || total > state.sent) {
        socket.close(...closings.badAck);
        return;
      }
      carry(socket);
      forget(state, total);
      state.told = state.received;
      send(state, reconnectedFrame(state.received));
      for (const part of state.kept) send(state, dataFrame(part));
      if (state.over !== undefined) socket.close(...state.over);
      else if (state.sent - state.acknowledged < window) backend.resume();
    },
    cut(closing) {
      const { socket } = state;
      // Kept at once: clients answer a closing with any code, or come back before they do.
      if (socket !== undefined) wait();
      if (closing === undefined) socket?.terminate();
      else socket?.close(...closing);
    },
    end,
  };
}
