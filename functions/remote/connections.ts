/**
 * Keeps connections: one login at the jumpbox of each bootstrap, and one at each machine behind it, over the jumpbox's
 * channels. Concurrent requests share a login. Dead connections are replaced, idle ones closed.
 */
import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { Problem } from '../../shared/problems.js';
import { dial } from './dial.js';
import type { HostRequest, Identity, Machine, RemoteSettings } from './remote.js';
import { type Connection, connect } from './ssh.js';

export interface RemoteTimes {
  readonly dialSeconds: number;
  readonly loginSeconds: number;
  readonly keepaliveSeconds: number;
  readonly idleSeconds: number;
  /** Between refused logins. Doubles each time, up to sixfold. OpenSSH shuts out clients that fail more often. */
  readonly backoffSeconds: number;
}
const usual: RemoteTimes = {
  dialSeconds: 15,
  loginSeconds: 30,
  keepaliveSeconds: 5,
  idleSeconds: 45,
  backoffSeconds: 5,
};

export interface Connections {
  get(request: HostRequest, signal?: AbortSignal): Promise<Connection>;
  close(): Promise<void>;
}

interface Entry {
  readonly connection: Promise<Connection>;
  usedAt: number;
  /** Operations under way. For a jumpbox, the machines behind it count too. */
  busy: number;
}

const portOf = ({ port = 22 }: Machine): number => port;

export function createConnections(settings: RemoteSettings, changes: Partial<RemoteTimes> = {}): Connections {
  const times = { ...usual, ...changes };
  const pool = createPool(times.idleSeconds);
  const login = createLogins(times);

  /** Another key or another pinned host key needs another connection. */
  const keyOf = (request: HostRequest, machine: Machine, by: string): string =>
    createHash('sha256')
      .update(JSON.stringify([request.bootstrapId, machine, identityOf(request), by]))
      .digest('base64');

  const jumpboxOf = (request: HostRequest): Entry => {
    const { jumpbox } = request;
    return pool.entryOf(keyOf(request, jumpbox, ''), () =>
      login(request, jumpbox, () => reachJumpbox(jumpbox, settings, times.dialSeconds)),
    );
  };

  const machineOf = (request: HostRequest, machine: Machine): Entry =>
    pool.entryOf(keyOf(request, machine, keyOf(request, request.jumpbox, '')), async () => {
      const entry = jumpboxOf(request);
      entry.busy++;
      const leave = (): void => {
        entry.busy--;
        entry.usedAt = Date.now();
      };
      try {
        const jumpbox = await entry.connection;
        const open = () => jumpbox.forward(machine.address, portOf(machine), times.dialSeconds);
        const connection = await login(request, machine, open);
        if (connection.gone.aborted) leave();
        else connection.gone.addEventListener('abort', leave, { once: true });
        return connection;
      } catch (error) {
        leave();
        throw error;
      }
    });

  return {
    async get(request, signal) {
      signal?.throwIfAborted();
      const { machine } = request;
      const entry = machine === undefined ? jumpboxOf(request) : machineOf(request, machine);
      return watched(await unlessAborted(entry.connection, signal), entry);
    },
    close: pool.close,
  };
}

async function reachJumpbox(jumpbox: Machine, settings: RemoteSettings, timeoutSeconds: number): Promise<Duplex> {
  const { name, address, tunnel } = jumpbox;
  const port = portOf(jumpbox);
  if (tunnel === undefined) return dial(address, port, { name, proxy: settings.sshProxy, timeoutSeconds });
  const { iap } = settings;
  if (iap === undefined) throw new Error('a machine behind IAP, but no way to open tunnels');
  const { openTunnel } = await import('./iap/tunnel.js');
  return openTunnel({ ...tunnel, port }, { name, ...iap, timeoutSeconds });
}

/** Entries by key, each made once and closed when idle. */
function createPool(idleSeconds: number) {
  const entries = new Map<string, Entry>();
  const isIdle = ({ busy, usedAt }: Entry): boolean => busy === 0 && Date.now() - usedAt > idleSeconds * 1000;
  const drop = (key: string, entry: Entry): void => {
    if (entries.get(key) === entry) entries.delete(key);
    entry.connection.then(
      (connection) => connection.close(),
      () => undefined,
    );
  };
  const closing = setInterval(
    () => {
      for (const [key, entry] of entries) if (isIdle(entry)) drop(key, entry);
    },
    Math.max(idleSeconds * 250, 50),
  );
  closing.unref();

  /** No request owns the login. If one gives up, the others keep it. */
  function entryOf(key: string, make: () => Promise<Connection>): Entry {
    const known = entries.get(key);
    if (known !== undefined) {
      // The function may have been frozen in between, and the other side may be long gone.
      if (!isIdle(known)) return known;
      drop(key, known);
    }
    const entry: Entry = { connection: make(), usedAt: Date.now(), busy: 1 };
    entries.set(key, entry);
    entry.connection.then(
      (connection) => {
        entry.busy--;
        entry.usedAt = Date.now();
        const forget = (): void => {
          if (entries.get(key) === entry) entries.delete(key);
        };
        if (connection.gone.aborted) forget();
        connection.gone.addEventListener('abort', forget, { once: true });
      },
      () => {
        if (entries.get(key) === entry) entries.delete(key);
      },
    );
    return entry;
  }

  return {
    entryOf,
    async close() {
      clearInterval(closing);
      const standing = [...entries].reverse();
      for (const [key, entry] of standing) drop(key, entry);
      // Close machines first, because their channels go through the jumpbox. Don't wait for dead peers.
      await Promise.all(standing.map(([, { connection }]) => connection.then(ended, () => undefined)));
    },
  };
}

/** Logs in, and makes refused logins wait before the next try. */
function createLogins(times: RemoteTimes) {
  const refused = new Map<string, { count: number; until: number; problem: Problem }>();
  return async function login(
    request: HostRequest,
    machine: Machine,
    open: () => Promise<Parameters<typeof connect>[0]>,
  ) {
    const door = doorOf(request, machine);
    const before = refused.get(door);
    const rest = ((before?.until ?? 0) - Date.now()) / 1000;
    if (before !== undefined && rest > 0) {
      const { detail, advice } = before.problem;
      throw new Problem('host-login', detail, {
        retryAfterSeconds: Math.ceil(rest),
        ...(advice === undefined ? {} : { advice }),
      });
    }
    try {
      const connection = await connect(await open(), machine, identityOf(request), times);
      refused.delete(door);
      return connection;
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'host-login') throw error;
      const count = (before?.count ?? 0) + 1;
      const seconds = times.backoffSeconds * Math.min(2 ** (count - 1), 6);
      const { detail, advice } = error;
      const problem = new Problem('host-login', detail, {
        retryAfterSeconds: Math.ceil(seconds),
        ...(advice === undefined ? {} : { advice }),
        cause: error,
      });
      refused.set(door, { count, until: Date.now() + seconds * 1000, problem });
      throw problem;
    }
  };
}

const placeOf = (machine: Machine): string =>
  `${machine.user}@${machine.tunnel === undefined ? machine.address : Object.values(machine.tunnel).join('/')}:${portOf(machine)}`;

/** The nodes of all bootstraps share one address range. Only the jumpbox in front tells which machine an address is. */
const doorOf = ({ bootstrapId, jumpbox }: HostRequest, machine: Machine): string =>
  JSON.stringify([bootstrapId, placeOf(jumpbox), placeOf(machine)]);

const ended = ({ gone }: Connection): Promise<void> =>
  new Promise((resolve) => {
    if (gone.aborted) resolve();
    else gone.addEventListener('abort', () => resolve(), { once: true });
  });

const identityOf = (request: HostRequest): Identity =>
  'agent' in request
    ? { agent: request.agent, publicKey: request.publicKey }
    : { privateKey: request.privateKey, passphrase: request.passphrase };

/** The same connection, which counts its operations, so that the pool doesn't close it during one. */
function watched(connection: Connection, entry: Entry): Connection {
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    entry.busy++;
    try {
      return await work();
    } finally {
      entry.busy--;
      entry.usedAt = Date.now();
    }
  };
  return {
    ...connection,
    run: (...of) => counted(() => connection.run(...of)),
    sftp: (work, signal) => counted(() => connection.sftp(work, signal)),
  };
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
