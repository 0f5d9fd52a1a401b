/**
 * A connection to a port of a VM through IAP, for VMs without a public address. It outlives lost WebSockets: both sides count
 * bytes, and send again what the other has not got.
 */
import type { Agent } from 'node:http';
import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../../../shared/problems.js';
import {
  type Ending,
  isForgotten,
  isNormal,
  mayReconnect,
  problemOfEnding,
  type TunnelTarget,
  wantsToken,
} from './ending.js';
import { acknowledgementFrame, dataFrame, largestData, type ServerFrame } from './frames.js';
import { type Line, openLine } from './line.js';
import { createResendBuffer, type ResendBuffer } from './resend-buffer.js';

export type { TunnelTarget } from './ending.js';

export interface TunnelOptions {
  /** The machine, for messages. */
  readonly name: string;
  /** `wss://tunnel.cloudproxy.app/v4` */
  readonly url: string;
  /** An access token for each WebSocket. With `fresh`, the former one was refused. */
  readonly token: (fresh: boolean) => Promise<string>;
  /** How each WebSocket connects, if not directly. */
  readonly agent?: (() => Promise<Agent | undefined>) | undefined;
  /** For each WebSocket. */
  readonly timeoutSeconds: number;
  /** How long a lost WebSocket may stay without a successor. Default: a minute. */
  readonly reconnectSeconds?: number;
  /** Default: 20. Two of these without a sign of life, and a WebSocket counts as lost. */
  readonly pingSeconds?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Bytes that may be on their way. Writing waits for acknowledgements beyond them. */
const resendLimit = 2 * 1024 * 1024;
/** As Google's own clients do: after two frames of the largest size. */
const acknowledgeAfter = 2 * largestData;
const firstWaitMs = 100;
const longestWaitMs = 5000;

interface Tunnel {
  readonly target: TunnelTarget;
  readonly options: TunnelOptions;
  readonly stream: Duplex;
  readonly unacknowledged: ResendBuffer;
  /** Aborted once the stream is destroyed. */
  readonly over: AbortController;
  /** Carries bytes now. */
  line: Line | undefined;
  sid: string;
  /** Bytes that came, and how many of them IAP knows to be here. */
  received: number;
  told: number;
  /** A write that waits for acknowledgements. */
  parked: (() => void) | undefined;
  /** Set when writing has ended, and what was written may still be on its way. */
  finish: (() => void) | undefined;
  isDone: boolean;
  /** When the line began. */
  begunAt: number;
  /** Since when lines have been lost at once, and the wait before the next one. */
  trouble: { readonly since: number; readonly waitMs: number } | undefined;
}

const problemOf = ({ options, target }: Tunnel, ending: Ending): Problem =>
  problemOfEnding(ending, options.name, target);

function urlOf({ target, options, sid, received }: Tunnel): string {
  const { project, zone, instance, port } = target;
  const [path, query] =
    sid === ''
      ? ['connect', { project, zone, instance, interface: 'nic0', port: String(port) }]
      : ['reconnect', { sid, ack: String(received), zone }];
  return `${options.url}/${path}?${new URLSearchParams({ ...query, newWebsocket: 'true' })}`;
}

/** Handles what comes while bytes are carried. */
function take(tunnel: Tunnel, line: Line, frame: ServerFrame): void {
  // Bytes move, so the trouble is over.
  tunnel.trouble = undefined;
  if (frame.kind === 'data') {
    tunnel.received += frame.bytes.length;
    if (tunnel.received - tunnel.told > acknowledgeAfter) {
      tunnel.told = tunnel.received;
      line.send(acknowledgementFrame(tunnel.received));
    }
    if (!tunnel.stream.push(frame.bytes)) line.pause();
  } else if (frame.kind === 'acknowledgement') {
    acknowledge(tunnel, frame.total);
  }
}

function acknowledge(tunnel: Tunnel, total: number): void {
  const { unacknowledged, stream, options } = tunnel;
  if (!unacknowledged.acknowledge(total)) {
    const detail = `IAP acknowledged bytes to ${options.name} that were not sent.`;
    stream.destroy(new Problem('host-unreachable', detail, { advice: 'Run the command again.' }));
    return;
  }
  if (unacknowledged.size < resendLimit) release(tunnel);
}

function release(tunnel: Tunnel): void {
  const { parked } = tunnel;
  tunnel.parked = undefined;
  parked?.();
}

/** The first frame: from here on, the line carries the tunnel. */
function begin(tunnel: Tunnel, line: Line, frame: ServerFrame): boolean {
  if (frame.kind === 'connected') tunnel.sid = frame.sid;
  else if (frame.kind === 'reconnected') acknowledge(tunnel, frame.total);
  else return false;
  if (tunnel.over.signal.aborted) return true;
  tunnel.line = line;
  tunnel.begunAt = Date.now();
  tunnel.told = tunnel.received;
  for (const part of tunnel.unacknowledged.parts()) line.send(dataFrame(part));
  if (tunnel.finish !== undefined) line.close();
  return true;
}

/** Opens a line. Returns nothing once it carries the tunnel, or else how it ended. */
async function attempt(tunnel: Tunnel, fresh: boolean): Promise<Ending | undefined> {
  const { options, over } = tunnel;
  const token = await options.token(fresh).catch((error: Error) => error);
  over.signal.throwIfAborted();
  if (token instanceof Problem) throw token;
  if (token instanceof Error) return { kind: 'failed', error: token };
  const agent = await options.agent?.();
  return new Promise((resolve, reject) => {
    let hasBegun = false;
    const line = openLine({
      url: urlOf(tunnel),
      token,
      agent,
      timeoutSeconds: options.timeoutSeconds,
      pingSeconds: options.pingSeconds ?? 20,
      onFrame(frame) {
        if (hasBegun) return take(tunnel, line, frame);
        hasBegun = begin(tunnel, line, frame);
        if (hasBegun) resolve(undefined);
      },
      onEnd(ending) {
        over.signal.removeEventListener('abort', drop);
        if (!hasBegun) return resolve(ending);
        tunnel.line = undefined;
        lost(tunnel, ending);
      },
    });
    const drop = (): void => {
      line.drop();
      reject(over.signal.reason);
    };
    over.signal.addEventListener('abort', drop, { once: true });
  });
}

/** Whether nothing is left to do. Whoever has said goodbye need not know whether it was heard. */
const isOver = ({ finish }: Tunnel, ending: Ending): boolean =>
  isNormal(ending) || (finish !== undefined && isForgotten(ending));

/** A line that carried the tunnel is gone. */
function lost(tunnel: Tunnel, ending: Ending): void {
  const { stream, over } = tunnel;
  if (isOver(tunnel, ending)) end(tunnel);
  else if (!mayReconnect(ending)) stream.destroy(problemOf(tunnel, ending));
  else {
    // An idle line that lasted shows the same as bytes that move.
    if (Date.now() - tunnel.begunAt > longestWaitMs) tunnel.trouble = undefined;
    reconnect(tunnel, ending).catch((error: Error) => {
      if (!over.signal.aborted) stream.destroy(error);
    });
  }
}

async function reconnect(tunnel: Tunnel, first: Ending): Promise<void> {
  const { reconnectSeconds = 60 } = tunnel.options;
  let ending = first;
  for (;;) {
    const { since, waitMs } = tunnel.trouble ?? { since: Date.now(), waitMs: firstWaitMs };
    tunnel.trouble = { since, waitMs: Math.min(waitMs * 2, longestWaitMs) };
    if (Date.now() - since > reconnectSeconds * 1000) throw problemOf(tunnel, ending);
    await sleep(waitMs, undefined, { signal: tunnel.over.signal });
    const next = await attempt(tunnel, wantsToken(ending));
    if (next === undefined) return;
    if (isOver(tunnel, next)) return end(tunnel);
    const isRefusedAgain = wantsToken(ending) && wantsToken(next);
    if (!mayReconnect(next) || isRefusedAgain) throw problemOf(tunnel, next);
    ending = next;
  }
}

/** Both directions are over. */
function end(tunnel: Tunnel): void {
  const { finish, stream } = tunnel;
  tunnel.isDone = true;
  tunnel.finish = undefined;
  finish?.();
  release(tunnel);
  stream.push(null);
  stream.end();
}

function write(tunnel: Tunnel, chunk: Buffer, done: () => void): void {
  const { unacknowledged, line } = tunnel;
  for (let at = 0; at < chunk.length; at += largestData) {
    // A copy, because the writer may use its memory again.
    const part = Buffer.from(chunk.subarray(at, at + largestData));
    unacknowledged.add(part);
    line?.send(dataFrame(part));
  }
  if (unacknowledged.size < resendLimit) done();
  else tunnel.parked = done;
}

function createTunnel(target: TunnelTarget, options: TunnelOptions): Tunnel {
  const over = new AbortController();
  const stream = new Duplex({
    // The protocol can't close one direction alone.
    allowHalfOpen: false,
    read: () => tunnel.line?.resume(),
    write: (chunk: Buffer, _encoding, done) => write(tunnel, chunk, done),
    final(done) {
      if (tunnel.isDone) return done();
      tunnel.finish = done;
      tunnel.line?.close();
    },
    destroy(error, done) {
      over.abort(error ?? new Error('The tunnel was closed.'));
      done(error);
    },
  });
  const tunnel: Tunnel = {
    ...{ target, options, stream, over, unacknowledged: createResendBuffer() },
    ...{ line: undefined, sid: '', received: 0, told: 0, parked: undefined, finish: undefined },
    ...{ isDone: false, begunAt: 0, trouble: undefined },
  };
  return tunnel;
}

/**
 * Resolves when the VM has taken the connection. Throws a Problem: `host-unreachable` where trying again may help. The stream
 * fails with one, too. Ending it ends both directions, behind what was written.
 */
export async function openTunnel(target: TunnelTarget, options: TunnelOptions): Promise<Duplex> {
  const { signal } = options;
  signal?.throwIfAborted();
  const tunnel = createTunnel(target, options);
  const { stream, over } = tunnel;
  const abort = (): void => void stream.destroy(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  stream.once('close', () => signal?.removeEventListener('abort', abort));
  // Until there is somebody to hear it.
  const ignore = (): void => undefined;
  stream.on('error', ignore);
  try {
    let ending = await attempt(tunnel, false);
    if (ending !== undefined && wantsToken(ending)) ending = await attempt(tunnel, true);
    if (ending !== undefined) throw problemOf(tunnel, ending);
  } catch (error) {
    if (!over.signal.aborted) stream.destroy();
    throw signal?.aborted === true ? signal.reason : error;
  }
  stream.off('error', ignore);
  return stream;
}
