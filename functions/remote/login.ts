/** Logs in over an open stream, with pinned host keys, and corrects what ssh2 silently does wrong. */
import { setMaxListeners } from 'node:events';
import type { Duplex } from 'node:stream';
import { Client, type ClientErrorExtensions, type ConnectConfig, createAgent } from 'ssh2';
import { openSshPair } from '../../shared/openssh.js';
import { Problem } from '../../shared/problems.js';
import { blobsOf, changed, hostKeyAlgorithms, isAmong } from './host-keys.js';
import type { Identity, Machine } from './remote.js';
import type { Bounds } from './within.js';

export interface ConnectTimes {
  /** From the first byte to the end of the login. */
  readonly loginSeconds: number;
  /** A dead connection without an error is noticed after three of these. */
  readonly keepaliveSeconds: number;
}

export interface LoggedIn extends Bounds {
  readonly client: Client;
  close(): void;
}

type SshError = Error & ClientErrorExtensions;

/** Takes the stream over, and ends it with the connection. Throws only Problems. */
export async function logIn(
  stream: Duplex,
  machine: Machine,
  identity: Identity,
  times: ConnectTimes,
): Promise<LoggedIn> {
  const client = new Client();
  const gone = new AbortController();
  // Everything under way listens to it.
  setMaxListeners(0, gone.signal);
  const { name } = machine;
  let failure: SshError | undefined;
  const lost = (why: string): Problem =>
    new Problem('host-unreachable', `The connection to ${name} was lost: ${why}.`, { cause: failure });

  client.on('error', (error) => {
    failure ??= error;
  });
  client.on('close', () => gone.abort(lost(failure?.message ?? 'it was closed from the other side')));
  // If a channel's far machine dies, the channel only ends, and the client would wait for ever.
  stream.on('end', () => stream.end());
  stream.on('error', () => undefined);

  try {
    await handshake(client, stream, machine, identity, times);
  } catch (error) {
    client.destroy();
    stream.destroy();
    throw error;
  }
  return {
    client,
    name,
    gone: gone.signal,
    lost,
    close() {
      failure ??= new Error('it was closed here');
      client.end();
      stream.end();
      // A dead peer doesn't answer the goodbye.
      const timer = setTimeout(() => stream.destroy(), 2_000);
      timer.unref();
      gone.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    },
  };
}

function handshake(
  client: Client,
  stream: Duplex,
  machine: Machine,
  identity: Identity,
  { loginSeconds, keepaliveSeconds }: ConnectTimes,
): Promise<void> {
  const { name, user } = machine;
  let failure: SshError | undefined;
  let refusal: Problem | undefined;
  return new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Problem('host-unreachable', `${name} did not finish the login within ${loginSeconds} seconds.`)),
      loginSeconds * 1000,
    );
    const fail = (error: unknown): void => {
      clearTimeout(timer);
      reject(error);
    };
    client.on('ready', () => {
      clearTimeout(timer);
      resolve();
    });
    client.on('error', (error) => {
      failure ??= error;
      fail(refusal ?? problemOfLogin(machine, failure));
    });
    client.on('close', () => fail(refusal ?? problemOfLogin(machine, failure)));
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
        // The timer above covers the login too.
        readyTimeout: 0,
        keepaliveInterval: keepaliveSeconds * 1000,
        keepaliveCountMax: 3,
      });
    } catch (error) {
      if (error instanceof Problem) return fail(error);
      // ssh2 throws at once if the key is unusable.
      fail(new Problem('bad-input', `The SSH key cannot be used: ${(error as Error).message}.`, { cause: error }));
    }
  });
}

function loginOf(identity: Identity): Pick<ConnectConfig, 'agent' | 'privateKey' | 'passphrase' | 'authHandler'> {
  // Each other method would count as a failed login.
  if ('agent' in identity) return { agent: agentOf(identity), authHandler: ['agent'] };
  const { privateKey, passphrase } = identity;
  // ssh2 doesn't know PKCS #8.
  const key = privateKey.includes('-----BEGIN PRIVATE KEY-----') ? openSshPair(privateKey, '').privateKey : privateKey;
  return { privateKey: key, authHandler: ['publickey'], ...(passphrase === undefined ? {} : { passphrase }) };
}

/** Offers only the wanted key of the agent, if one is named. */
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

function problemOfLogin({ name, user }: Machine, error: SshError | undefined): Problem {
  if (error?.level === 'client-authentication') {
    return new Problem('host-login', `${name} refused the login of ${user}.`, {
      advice: 'Keys reach a VM through its metadata, within a minute or two. Look at the VM if it lasts longer.',
      cause: error,
    });
  }
  const why = error?.message ?? 'the connection was closed before the login';
  return new Problem('host-unreachable', `${name} cannot be reached over SSH: ${why}.`, { cause: error });
}
