/** Opens TCP connections to machines, through an HTTP CONNECT proxy if one is set. */
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Problem } from '../../shared/problems.js';
import { timeLimit } from '../../shared/time-limit.js';

export interface DialOptions {
  /** For messages. */
  readonly name: string;
  /** `http://host:port` */
  readonly proxy?: string | undefined;
  readonly timeoutSeconds: number;
}

/** Throws a Problem of code `host-unreachable`. */
export async function dial(address: string, port: number, options: DialOptions): Promise<Socket> {
  const { name, proxy, timeoutSeconds } = options;
  const signal = timeLimit(timeoutSeconds * 1000);
  const socket = await (proxy === undefined
    ? direct(address, port, signal)
    : through(new URL(proxy), address, port, signal)
  ).catch((error: unknown) => {
    const why = signal.aborted ? `no answer within ${timeoutSeconds} seconds` : reasonOf(error);
    const way = proxy === undefined ? '' : ` through ${proxy}`;
    throw new Problem('host-unreachable', `${name} (${address}, port ${port}) cannot be reached${way}: ${why}.`, {
      cause: error,
    });
  });
  // Otherwise each small packet waits for the answer to the previous one, which is ten times slower.
  socket.setNoDelay(true);
  return socket;
}

const reasonOf = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code ?? (error instanceof Error ? error.message : String(error));

function direct(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port });
    const abort = (): void => void socket.destroy(new Error('aborted'));
    signal.addEventListener('abort', abort, { once: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      signal.removeEventListener('abort', abort);
      socket.removeListener('error', reject);
      resolve(socket);
    });
  });
}

function through({ hostname, port: proxyPort }: URL, address: string, port: number, signal: AbortSignal) {
  return new Promise<Socket>((resolve, reject) => {
    const path = `${address.includes(':') ? `[${address}]` : address}:${port}`;
    const host = hostname.replace(/^\[|\]$/g, '');
    const asking = request({ method: 'CONNECT', host, port: proxyPort, path, headers: { host: path }, agent: false });
    const abort = (): void => void asking.destroy(new Error('aborted'));
    signal.addEventListener('abort', abort, { once: true });
    asking.once('error', reject);
    asking.once('response', (response) => {
      response.resume();
      reject(new Error(`the proxy answers ${response.statusCode}`));
    });
    asking.once('connect', ({ statusCode }, socket: Socket, head) => {
      signal.removeEventListener('abort', abort);
      if (statusCode !== 200) {
        socket.destroy();
        return reject(new Error(`the proxy answers ${statusCode}`));
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    asking.end();
  });
}
