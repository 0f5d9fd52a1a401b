/**
 * One SSH connection over a stream that is there: host keys pinned, commands, channels to other machines, SFTP. All that ssh2
 * does silently wrong is put right here. The one importer of ssh2 in the product. Called by connections.ts.
 */
import { setMaxListeners } from 'node:events';
import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import {
  Client,
  type ClientChannel,
  type ClientErrorExtensions,
  type ConnectConfig,
  createAgent,
  type SFTPWrapper,
} from 'ssh2';
import { openSshPair } from '../../shared/openssh.js';
import { Problem } from '../../shared/problems.js';
import { blobsOf, changed, hostKeyAlgorithms, isAmong } from './host-keys.js';
import type { ExecOptions, Identity, Machine } from './remote.js';
import { createSlots } from './slots.js';

export interface Ran {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

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

export interface ConnectTimes {
  /** From the first byte to the end of the login. */
  readonly loginSeconds: number;
  /** A connection that is silently dead is found after three of these. */
  readonly keepaliveSeconds: number;
}

/** OpenSSH takes ten as it comes, and counts one that has ended for a moment longer. */
const sessionsAtOnce = 8;
const openSeconds = 20;
const execSeconds = 60;
const openTries = 50;
const openTryMilliseconds = 100;
const maxOutputBytes = 17 * 1024 * 1024;

/** Takes the stream over, and ends it with the connection. Throws Problems alone. */
export async function connect(
  stream: Duplex,
  machine: Machine,
  identity: Identity,
  { loginSeconds, keepaliveSeconds }: ConnectTimes,
): Promise<Connection> {
  const client = new Client();
  const gone = new AbortController();
  // All that is under way listens.
  setMaxListeners(0, gone.signal);
  const { name, user } = machine;
  let failure: (Error & ClientErrorExtensions) | undefined;
  let refusal: Problem | undefined;
  const lost = (why: string): Problem =>
    new Problem('host-unreachable', `The connection to ${name} was lost: ${why}.`, { cause: failure });

  client.on('error', (error) => {
    failure ??= error;
  });
  client.on('close', () => gone.abort(lost(failure?.message ?? 'it was closed from the other side')));
  // A channel whose far machine dies only ends, and would leave the client waiting for ever.
  stream.on('end', () => stream.end());
  stream.on('error', () => undefined);

  let loginTimer: NodeJS.Timeout | undefined;
  const ready = new Promise<void>((resolve, reject) => {
    loginTimer = setTimeout(
      () => reject(new Problem('host-unreachable', `${name} did not finish the login within ${loginSeconds} seconds.`)),
      loginSeconds * 1000,
    );
    client.on('ready', () => {
      clearTimeout(loginTimer);
      resolve();
    });
    const fail = (): void => {
      clearTimeout(loginTimer);
      reject(refusal ?? problemOfLogin(machine, failure));
    };
    client.on('error', fail);
    client.on('close', fail);
  });
  ready.catch(() => undefined);

  try {
    const pinned = blobsOf(machine);
    client.connect({
      sock: stream,
      username: user,
      ...loginOf(identity),
      algorithms: { serverHostKey: hostKeyAlgorithms(pinned) as never },
      hostVerifier: (seen: Buffer) => {
        if (isAmong(seen, pinned)) return true;
        refusal = changed(name, pinned, seen);
        return false;
      },
      // Ours, above: it covers the login too.
      readyTimeout: 0,
      keepaliveInterval: keepaliveSeconds * 1000,
      keepaliveCountMax: 3,
    });
  } catch (error) {
    clearTimeout(loginTimer);
    stream.destroy();
    if (error instanceof Problem) throw error;
    // ssh2 throws at once on what is wrong with what it was given: the key.
    throw new Problem('bad-input', `The SSH key cannot be used: ${(error as Error).message}.`, { cause: error });
  }
  try {
    await ready;
  } catch (error) {
    client.destroy();
    stream.destroy();
    throw error;
  }

  const slots = createSlots(sessionsAtOnce);

  /** Settles with `work`, or rejects when the connection goes, the signal aborts, or the time is over, whatever comes first. */
  function within<T>(
    what: string,
    seconds: number,
    signal: AbortSignal | undefined,
    work: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const ends = signal === undefined ? [gone.signal] : [gone.signal, signal];
      let stop = (): void => undefined;
      const settle = (): void => {
        clearTimeout(timer);
        for (const each of ends) each.removeEventListener('abort', aborted);
      };
      const fail = (error: unknown): void => {
        settle();
        stop();
        reject(error);
      };
      const aborted = (): void => fail(ends.find((each) => each.aborted)?.reason);
      const timer = setTimeout(
        () => fail(new Problem('host-unreachable', `${name} did not ${what} within ${seconds} seconds.`)),
        seconds * 1000,
      );
      if (ends.some((each) => each.aborted)) return aborted();
      for (const each of ends) each.addEventListener('abort', aborted, { once: true });
      try {
        stop = work((value) => {
          settle();
          resolve(value);
        }, fail);
      } catch (error) {
        fail(lost(error instanceof Error ? error.message : String(error)));
      }
    });
  }

  const execute = (command: string, { stdin, timeoutSeconds = execSeconds, signal }: ExecOptions): Promise<Ran> =>
    within('end a command', timeoutSeconds, signal, (resolve, reject) => {
      let channel: ClientChannel | undefined;
      let stopped = false;
      const open = (triesLeft: number): void => {
        if (stopped) return;
        client.exec(command, (error, opened) => {
          if (error !== undefined) {
            // What was given up before may hold its session for a moment yet.
            if (triesLeft > 0 && !gone.signal.aborted) setTimeout(() => open(triesLeft - 1), openTryMilliseconds);
            else reject(lost(`it takes no session (${error.message})`));
            return;
          }
          channel = opened;
          if (stopped) return giveUp(opened);
          follow(opened, resolve, reject);
          opened.end(stdin === undefined ? undefined : Buffer.from(stdin));
        });
      };
      open(openTries);
      return () => {
        stopped = true;
        if (channel !== undefined) giveUp(channel);
      };
    });

  /** A closed channel alone ends no command, and the command keeps its session. */
  function giveUp(channel: ClientChannel): void {
    if (gone.signal.aborted) return;
    channel.on('error', () => undefined);
    try {
      channel.signal('TERM');
      channel.close();
    } catch {
      // It has ended meanwhile.
    }
  }

  function follow(channel: ClientChannel, resolve: (ran: Ran) => void, reject: (error: unknown) => void): void {
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let bytes = 0;
    let exitCode: number | undefined;
    const take = (into: Buffer[]) => (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxOutputBytes) reject(new Problem('host-failed', `A command on ${name} says too much to be kept.`));
      else into.push(chunk);
    };
    channel.on('data', take(out));
    channel.stderr.on('data', take(err));
    channel.on('error', () => undefined);
    channel.on('exit', (code: number | null, signal?: string) => {
      const number = constants.signals[`SIG${signal?.replace(/^SIG/, '')}` as NodeJS.Signals] ?? 0;
      exitCode = code ?? 128 + number;
    });
    channel.on('close', () => {
      if (exitCode === undefined) reject(lost('a command ended without an exit code'));
      else resolve({ exitCode, stdout: Buffer.concat(out), stderr: Buffer.concat(err) });
    });
  }

  return {
    gone: gone.signal,
    run: (command, options = {}) => slots.use(() => execute(command, options), options.signal),
    forward: (address, port, timeoutSeconds) =>
      within(`open a channel to ${address}, port ${port},`, timeoutSeconds, undefined, (resolve, reject) => {
        let stopped = false;
        client.forwardOut('127.0.0.1', 0, address, port, (error, channel) => {
          if (error !== undefined) {
            const why = `${name} cannot reach ${address}, port ${port}: ${error.message}.`;
            return reject(new Problem('host-unreachable', why, { cause: error }));
          }
          if (stopped) channel.close();
          else resolve(channel);
        });
        return () => {
          stopped = true;
        };
      }),
    sftp: (work, signal) =>
      slots.use(async () => {
        const sftp = await within<SFTPWrapper>('begin SFTP', openSeconds, signal, (resolve, reject) => {
          client.sftp((error, opened) =>
            error === undefined ? resolve(opened) : reject(lost(`no SFTP (${error.message})`)),
          );
          return () => undefined;
        });
        sftp.on('error', () => undefined);
        const end = new AbortController();
        try {
          const cut = new Promise<never>((_, reject) => {
            const abort = (): void => reject(gone.signal.aborted ? gone.signal.reason : signal?.reason);
            for (const each of signal === undefined ? [gone.signal] : [gone.signal, signal]) {
              each.addEventListener('abort', abort, { once: true, signal: end.signal });
            }
          });
          return await Promise.race([work(sftp), cut]);
        } finally {
          end.abort();
          // Left open it holds one of the sessions.
          sftp.end();
        }
      }, signal),
    close() {
      failure ??= new Error('it was closed here');
      client.end();
      stream.end();
      // A peer that is gone answers no farewell.
      const timer = setTimeout(() => stream.destroy(), 2_000);
      timer.unref();
      gone.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    },
  };
}

function loginOf(identity: Identity): Pick<ConnectConfig, 'agent' | 'privateKey' | 'passphrase' | 'authHandler'> {
  // Each other method would count as a failed login.
  if ('agent' in identity) return { agent: agentOf(identity), authHandler: ['agent'] };
  const { privateKey, passphrase } = identity;
  // PKCS #8 is unknown to ssh2.
  const key = privateKey.includes('-----BEGIN PRIVATE KEY-----') ? openSshPair(privateKey, '').privateKey : privateKey;
  return { privateKey: key, authHandler: ['publickey'], ...(passphrase === undefined ? {} : { passphrase }) };
}

/** Of the keys that it has only the one that is meant, if that is said. */
function agentOf({ agent: path, publicKey }: Extract<Identity, { readonly agent: string }>) {
  const agent = createAgent(path);
  if (publicKey === undefined) return agent;
  const wanted = Buffer.from(publicKey.split(' ')[1] ?? '', 'base64');
  const all = agent.getIdentities.bind(agent);
  agent.getIdentities = (done) =>
    all((error, keys = []) => {
      const isWanted = (key: (typeof keys)[number]): boolean =>
        typeof key === 'object' && 'getPublicSSH' in key && key.getPublicSSH().equals(wanted);
      done(error, keys.filter(isWanted));
    });
  return agent;
}

function problemOfLogin({ name, user }: Machine, error: (Error & ClientErrorExtensions) | undefined): Problem {
  if (error?.level === 'client-authentication') {
    return new Problem('host-login', `${name} refused the login of ${user}.`, {
      advice: 'Keys reach a VM through its metadata, within a minute or two. Look at the VM if it lasts longer.',
      cause: error,
    });
  }
  const why = error?.message ?? 'the connection was closed before the login';
  return new Problem('host-unreachable', `${name} cannot be reached over SSH: ${why}.`, { cause: error });
}
