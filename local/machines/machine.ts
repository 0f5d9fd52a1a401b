/**
 * One running VM: sandbox, SSH server, connections into and out of its network, startup script. It is made when the VM starts
 * and ended when the VM stops. The disk stays.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openSshPair } from '../../shared/openssh.js';
import { makeDisk } from './disk.js';
import type { Isolation } from './isolation.js';
import type { Answer } from './network/fabric.js';
import { createOutbound } from './network/outbound.js';
import { outboundPort } from './network/outbound-port.js';
import { createRelay } from './network/relay.js';
import { startSandbox } from './sandbox.js';
import { isOfImage, loginKeys, loginKeysIn, makeHome, readPlain, writeLoginKeys } from './ssh/login-keys.js';
import { createSshServer } from './ssh/server.js';
import { readSshdConfig, type SshdConfig } from './ssh/sshd-config.js';
import { runScript, tellOf } from './startup-script.js';
import type { Vm } from './vms.js';

export interface MachineOptions {
  readonly vm: Vm;
  /** The folder of the VM's disk. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly hostKeyPem: string;
  /** Reads the current metadata. */
  readonly metadata: (key: string) => string | undefined;
  /** Asks OS Login as of now. Undefined: the VM uses none. */
  readonly osLogin: Vm['osLogin'];
  readonly connect: (address: string, port: number) => Promise<Answer>;
  /** The wait before the startup script begins. */
  readonly startupMilliseconds: number;
  /** Called with each line on the guest's serial console. */
  readonly onSerial: (line: string) => void;
  /** Called when the guest turned itself off. */
  readonly onPowerOff: () => void;
}

export interface Machine {
  /** Connects to this port. `from` is the address of another VM of its network, if one connects. */
  accept(port: number, from?: string): Promise<Answer>;
  /** Resolves when the startup script or the machine has ended. */
  readonly settled: Promise<void>;
  end(silently: boolean): Promise<void>;
}

const sshPort = 22;
/** `systemctl reload ssh` writes this file. sshd then reads its settings again. */
const sshdStamp = '/var/lib/plinth-local/sshd-loaded';

/** Who may log in, and what they may do there. */
const loginsOf = (folder: string, osLogin: Vm['osLogin'], syncKeys: () => void) => ({
  keysOf(user: string) {
    syncKeys();
    const found = isOfImage(user) ? undefined : osLogin(user);
    // PAM refuses whoever may not log in, whatever their own files say.
    if (found?.mayLogIn === false) return [];
    return [...loginKeys(folder, user), ...(found?.keys ?? []).flatMap(loginKeysIn)];
  },
  // Users that come from the image or from metadata have sudo without a password, as on Ubuntu's cloud image.
  mayUseSudo: (user: string) => isOfImage(user) || (osLogin(user)?.mayUseSudo ?? true),
  onLogin: (user: string) => makeHome(folder, user),
});

export async function startMachine(options: MachineOptions, isolation: Isolation): Promise<Machine> {
  const { vm, folder, environment, metadata, osLogin, connect, onSerial } = options;
  makeDisk(folder, { hostname: vm.name, address: vm.address, environment });
  const syncKeys = (): void => writeLoginKeys(folder, metadata('ssh-keys') ?? '');
  syncKeys();
  const sandbox = await startSandbox({ folder, hostname: vm.name, address: vm.address, isolation });
  const relay = createRelay(sandbox.networkEntry);
  const outbound = createOutbound(connect);
  const ended = new AbortController();

  const listening = relay.listen(outboundPort).then(
    (server) => {
      server.on('connection', outbound.take);
      ended.signal.addEventListener('abort', () => server.close());
      if (ended.signal.aborted) server.close();
    },
    (error: Error) => {
      if (!ended.signal.aborted) onSerial(`no way out of the network: ${error.message}`);
    },
  );

  let loaded: { readonly stamp: string; readonly config: SshdConfig } | undefined;
  const config = (): SshdConfig => {
    const stamp = readPlain(folder, sshdStamp);
    if (loaded?.stamp !== stamp) loaded = { stamp, config: readSshdConfig(folder) };
    return loaded.config;
  };
  const ssh = createSshServer({
    hostKey: openSshPair(options.hostKeyPem, vm.name).privateKey,
    sandbox,
    ...loginsOf(folder, osLogin, syncKeys),
    config,
    connect,
  });

  async function startUp(): Promise<void> {
    await sleep(options.startupMilliseconds, undefined, { signal: ended.signal, ref: false });
    await listening;
    sandbox.run({ user: 'root', argv: ['systemctl', 'boot'] }).on('error', () => undefined);
    const script = metadata('startup-script');
    if (script === undefined || script.trim() === '') return;
    await tellOf(sandbox.run({ user: 'root', argv: ['/bin/bash', '-c', runScript] }), script, onSerial, ended.signal);
  }
  const settled = startUp().catch((error: Error) => {
    if (!ended.signal.aborted) onSerial(`startup-script: ${error.message}`);
  });

  return {
    settled,
    async accept(port, from) {
      if (ended.signal.aborted) return { kind: 'dropped' };
      if (port === sshPort) return ssh.accept();
      const socket = await relay.connect(port, vm.address, from);
      if (socket === undefined) return { kind: ended.signal.aborted ? 'dropped' : 'refused' };
      socket.setNoDelay(true);
      return { kind: 'open', stream: socket };
    },
    async end(silently) {
      ended.abort();
      ssh.close(silently);
      outbound.close();
      relay.close();
      await sandbox.end();
      await settled;
    },
  };
}
