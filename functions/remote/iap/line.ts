/** One WebSocket to IAP. A tunnel may need several, one after another. */
import type { Agent } from 'node:http';
import { type ClientOptions, WebSocket } from 'ws';
import { version } from '../../../shared/version.js';
import type { Ending } from './ending.js';
import { origin, readFrame, type ServerFrame, subprotocol } from './frames.js';

export interface Line {
  send(frame: Buffer): void;
  pause(): void;
  resume(): void;
  /** Says goodbye behind all that was sent. */
  close(): void;
  /** Breaks it. Nothing more is told of it. */
  drop(): void;
}

export interface LineOptions {
  readonly url: string;
  readonly token: string;
  readonly agent: Agent | undefined;
  /** For the handshake and the first frame. */
  readonly timeoutSeconds: number;
  /** Two of these without a sign of life, and it counts as broken. */
  readonly pingSeconds: number;
  readonly onFrame: (frame: ServerFrame) => void;
  /** Called once, with the last that comes. */
  readonly onEnd: (ending: Ending) => void;
}

/** How long the other side may take to answer a goodbye. */
const closeTimeout = 1000;
/** More than any frame needs. */
const maxPayload = 1024 * 1024;

const optionsOf = ({
  token,
  agent,
}: Pick<LineOptions, 'token' | 'agent'>): ClientOptions & { readonly closeTimeout: number } => ({
  origin,
  headers: { authorization: `Bearer ${token}`, 'user-agent': `plinth/${version}` },
  perMessageDeflate: false,
  maxPayload,
  closeTimeout,
  ...(agent !== undefined && { agent }),
});

/** Breaks a WebSocket that shows no life. One that never answers a ping is not judged by that. */
function watch(socket: WebSocket, seconds: number, isPaused: () => boolean): void {
  let answers = false;
  let isAlive = true;
  const heard = (): void => {
    isAlive = true;
  };
  socket.on('message', heard);
  socket.on('pong', () => {
    answers = true;
    isAlive = true;
  });
  const timer = setInterval(() => {
    if (socket.readyState !== WebSocket.OPEN || isPaused()) return;
    if (answers && !isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, seconds * 1000);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
}

export function openLine({ url, timeoutSeconds, pingSeconds, onFrame, onEnd, ...way }: LineOptions): Line {
  const socket = new WebSocket(url, subprotocol, optionsOf(way));
  let isOver = false;
  let isPaused = false;
  let failure: Error | undefined;
  let status: number | undefined;

  const end = (ending: Ending): void => {
    clearTimeout(timer);
    if (isOver) return;
    isOver = true;
    onEnd(ending);
  };
  const timer = setTimeout(() => {
    failure = new Error(`no answer within ${timeoutSeconds} seconds`);
    socket.terminate();
  }, timeoutSeconds * 1000);

  socket.on('unexpected-response', (_request, response) => {
    status = response.statusCode ?? 0;
    socket.terminate();
  });
  socket.on('error', (error) => {
    failure ??= error;
  });
  socket.on('close', (code, reason) => {
    if (status !== undefined) end({ kind: 'status', status });
    else if (failure !== undefined) end({ kind: 'failed', error: failure });
    else end({ kind: 'closed', code, reason: reason.toString() });
  });
  socket.on('message', (message: Buffer) => {
    if (isOver) return;
    clearTimeout(timer);
    const frame = readFrame(message);
    if (frame !== undefined) return onFrame(frame);
    failure = new Error('a frame is shorter than it says');
    socket.terminate();
  });
  watch(socket, pingSeconds, () => isPaused);

  return {
    send(frame) {
      if (socket.readyState === WebSocket.OPEN) socket.send(frame, () => undefined);
    },
    pause() {
      isPaused = true;
      socket.pause();
    },
    resume() {
      isPaused = false;
      socket.resume();
    },
    close: () => socket.close(1000),
    drop() {
      isOver = true;
      clearTimeout(timer);
      if (socket.readyState === WebSocket.OPEN) socket.close(1000);
      else socket.terminate();
    },
  };
}
