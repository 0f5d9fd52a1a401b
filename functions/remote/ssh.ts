/** Makes one SSH connection over an open stream: commands, channels to other machines, SFTP. */
import type { Duplex } from 'node:stream';
import type { SFTPWrapper } from 'ssh2';
import { Problem } from '../../shared/problems.js';
import { createSlots } from '../host/slots.js';
import { execute, type Ran } from './command.js';
import { type ConnectTimes, type LoggedIn, logIn } from './login.js';
import type { ExecOptions, Identity, Machine } from './remote.js';
import { within } from './within.js';

export interface Connection {
  run(command: string, options?: ExecOptions): Promise<Ran>;
  /** A stream to another machine, opened by this one. */
  forward(address: string, port: number, timeoutSeconds: number): Promise<Duplex>;
  /** The session ends with `work`. */
  sftp<T>(work: (sftp: SFTPWrapper) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Aborted, with a Problem, once the connection is gone. */
  readonly gone: AbortSignal;
  close(): void;
}

/** OpenSSH allows ten by default, and counts an ended one for a moment longer. */
const sessionsAtOnce = 8;
const openSeconds = 20;

/** Takes the stream over, and ends it with the connection. Throws only Problems. */
export async function connect(
  stream: Duplex,
  machine: Machine,
  identity: Identity,
  times: ConnectTimes,
): Promise<Connection> {
  const login = await logIn(stream, machine, identity, times);
  const slots = createSlots(sessionsAtOnce);
  return {
    gone: login.gone,
    run: (command, options = {}) => slots.use(() => execute(login.client, login, command, options), options.signal),
    forward: (address, port, timeoutSeconds) => forward(login, address, port, timeoutSeconds),
    sftp: (work, signal) => slots.use(() => withSftp(login, work, signal), signal),
    close: login.close,
  };
}

const forward = (login: LoggedIn, address: string, port: number, timeoutSeconds: number): Promise<Duplex> =>
  within(login, `open a channel to ${address}, port ${port},`, { seconds: timeoutSeconds }, (resolve, reject) => {
    let stopped = false;
    login.client.forwardOut('127.0.0.1', 0, address, port, (error, channel) => {
      if (error !== undefined) {
        const why = `${login.name} cannot reach ${address}, port ${port}: ${error.message}.`;
        return reject(new Problem('host-unreachable', why, { cause: error }));
      }
      if (stopped) channel.close();
      else resolve(channel);
    });
    return () => {
      stopped = true;
    };
  });

async function withSftp<T>(
  login: LoggedIn,
  work: (sftp: SFTPWrapper) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const { gone } = login;
  const sftp = await within<SFTPWrapper>(login, 'begin SFTP', { seconds: openSeconds, signal }, (resolve, reject) => {
    login.client.sftp((error, opened) =>
      error === undefined ? resolve(opened) : reject(login.lost(`no SFTP (${error.message})`)),
    );
    return () => undefined;
  });
  sftp.on('error', () => undefined);
  const end = new AbortController();
  try {
    const cut = new Promise<never>((_, reject) => {
      const abort = (): void => reject(gone.aborted ? gone.reason : signal?.reason);
      for (const each of signal === undefined ? [gone] : [gone, signal]) {
        each.addEventListener('abort', abort, { once: true, signal: end.signal });
      }
    });
    return await Promise.race([work(sftp), cut]);
  } finally {
    end.abort();
    // An open SFTP session would keep its slot.
    sftp.end();
  }
}
