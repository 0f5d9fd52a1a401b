/**
 * The SSH server of one simulated VM: the guest's host key, only public keys, OpenSSH's limits and delays, jumps through the
 * fabric.
 */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import ssh2, { type AuthContext, type Connection, type PublicKeyAuthContext } from 'ssh2';
import type { Answer } from '../network/fabric.js';
import { createPair, type Joint, join } from '../network/streams.js';
import type { Sandbox } from '../sandbox.js';
import type { LoginKey } from './login-keys.js';
import { serveSession } from './session.js';
import type { SshdConfig } from './sshd-config.js';

const { Server, utils } = ssh2;

export interface SshServerOptions {
  /** The key in OpenSSH's own form. */
  readonly hostKey: string;
  readonly sandbox: Sandbox;
  /** Reads the current keys. */
  readonly keysOf: (user: string) => readonly LoginKey[];
  /** Asked as each session begins. */
  readonly mayUseSudo: (user: string) => boolean;
  readonly onLogin: (user: string) => void;
  readonly config: () => SshdConfig;
  /** Connects onward from this VM. */
  readonly connect: (address: string, port: number) => Promise<Answer>;
}

export interface SshServer {
  accept(): Answer;
  /** Breaks all connections. With `silently`, the clients get no notice. */
  close(silently: boolean): void;
}

/** OpenSSH waits this long before a refusal, so that its timing does not tell the reason. */
const refusalMilliseconds = 6;
const loginGraceSeconds = 120;

export function createSshServer(options: SshServerOptions): SshServer {
  const joints = new Set<Joint>();
  const unauthenticated = new Set<Duplex>();
  let dropDebt = 0;
  const server = new Server({ hostKeys: [options.hostKey], ident: 'OpenSSH_8.9p1 Ubuntu-3ubuntu0.13' }, (client) => {
    // Connections are handed in one by one, so the latest one is this one's.
    const [own] = [...unauthenticated].slice(-1);
    serveClient(client, options, () => void (own && unauthenticated.delete(own)));
  });
  server.on('error', () => undefined);

  /** MaxStartups: from `start` on it drops some connections, then more and more, and from `full` on all. */
  function isDropped(): boolean {
    const { start, rate, full } = options.config().maxStartups;
    const count = unauthenticated.size;
    if (count < start) return false;
    if (count >= full) return true;
    dropDebt += (rate + ((100 - rate) * (count - start)) / (full - start)) / 100;
    if (dropDebt < 1) return false;
    dropDebt -= 1;
    return true;
  }

  return {
    accept() {
      const [inner, outer] = createPair();
      if (isDropped()) {
        outer.end();
        return { kind: 'open', stream: inner };
      }
      const [near, far] = createPair();
      const joint = join(outer, far, () => {
        unauthenticated.delete(near);
        joints.delete(joint);
      });
      joints.add(joint);
      unauthenticated.add(near);
      // ssh2 uses the socket only as a stream.
      server.injectSocket(near as unknown as Socket);
      return { kind: 'open', stream: inner };
    },
    close(silently) {
      for (const joint of [...joints]) joint.cut(silently);
    },
  };
}

function serveClient(client: Connection, options: SshServerOptions, onLogin: () => void): void {
  const config = options.config();
  let login: { readonly user: string; readonly command?: string | undefined } | undefined;
  let failures = 0;
  let sessions = 0;
  const grace = setTimeout(() => client.end(), loginGraceSeconds * 1000);
  grace.unref();

  const refuse = async (context: AuthContext): Promise<void> => {
    // A question about the methods is no attempt.
    if (context.method !== 'none') failures += 1;
    await sleep(refusalMilliseconds);
    if (failures >= config.maxAuthTries) client.end();
    else context.reject(['publickey']);
  };

  client.on('error', () => undefined);
  client.on('close', () => {
    clearTimeout(grace);
    onLogin();
  });
  client.on('authentication', (context) => {
    if (context.method !== 'publickey') return void refuse(context);
    const key = permitted(context, options, config);
    if (key === undefined) return void refuse(context);
    if (context.signature !== undefined) {
      login = { user: context.username, command: key.command };
      options.onLogin(context.username);
    }
    context.accept();
  });
  client.on('ready', () => {
    clearTimeout(grace);
    onLogin();
    client.on('session', (accept, reject) => {
      if (login === undefined || sessions >= config.maxSessions) return reject();
      sessions += 1;
      const session = accept();
      session.once('close', () => {
        sessions -= 1;
      });
      serveSession(session, { sandbox: options.sandbox, mayUseSudo: options.mayUseSudo(login.user), ...login });
    });
    client.on('tcpip', (accept, reject, { destIP, destPort }) => {
      if (!config.allowTcpForwarding) return reject();
      options.connect(destIP, destPort).then(
        (found) => {
          // For a dropped connection the client waits as long as it likes.
          if (found.kind === 'refused') reject();
          if (found.kind !== 'open') return;
          const channel = accept();
          if (channel === undefined) return void found.stream.destroy();
          join(channel, found.stream);
        },
        () => reject(),
      );
    });
  });
}

/** The key of this attempt, if it grants a login. */
function permitted(
  context: PublicKeyAuthContext,
  { keysOf }: SshServerOptions,
  { permitRootLogin }: SshdConfig,
): LoginKey | undefined {
  const blob = context.key.data.toString('base64');
  const key = keysOf(context.username).find((one) => one.blob === blob);
  if (key === undefined) return undefined;
  if (context.username === 'root') {
    if (permitRootLogin === 'no') return undefined;
    if (permitRootLogin === 'forced-commands-only' && key.command === undefined) return undefined;
  }
  if (context.signature === undefined) return key;
  const parsed = utils.parseKey(`${key.type} ${key.blob}`);
  if (parsed instanceof Error || context.blob === undefined) return undefined;
  return parsed.verify(context.blob, context.signature, context.hashAlgo) === true ? key : undefined;
}
