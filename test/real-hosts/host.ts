/**
 * One running VM as a real host: systemd as first process of namespaces of its own, with Debian's sshd. It is made when the
 * VM starts and ended when the VM stops. The disk stays.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Machine, MachineOptions } from '../../local/machines/machine.js';
import { iapAddress } from '../../local/machines/network/fabric.js';
import { writeLoginKeys } from '../../local/machines/ssh/login-keys.js';
import { runScript, tellOf } from '../../local/machines/startup-script.js';
import { openSshPair } from '../../shared/openssh.js';
import { makeRealDisk, writeNames } from './disk.js';
import { childrenOf, type Network, outsideAddress } from './network.js';

export interface RealHostOptions extends MachineOptions {
  readonly network: Network;
  /** Its network device. */
  readonly device: string;
  readonly base: string;
  /** Reads the current names in its network. */
  readonly names: () => readonly { readonly name: string; readonly address: string }[];
  readonly outsidePorts: () => readonly number[];
}

export interface RealHost extends Machine {
  /** Does the work of the guest agent after a change of the cloud. */
  follow(): void;
}

const bootVm = fileURLToPath(new URL('../../../test/real-hosts/boot-vm.sh', import.meta.url));
const sshPort = 22;
/** A dozen hosts may boot at once, on a computer with other work. */
const bootSeconds = 180;
/** Google gives more, but nothing here needs it. */
const shutdownSeconds = 10;
/** The signal that tells systemd to power off: SIGRTMIN+4, in Linux's numbers for programs with the GNU C library. */
const powerOff = 34 + 4;

interface Boot {
  readonly child: ChildProcess;
  /** Process id of systemd, as this system sees it. */
  readonly pid: number;
  readonly ended: Promise<NodeJS.Signals | null>;
}

export async function startRealHost(options: RealHostOptions): Promise<RealHost> {
  const { vm, folder, environment, network, device, onSerial } = options;
  makeRealDisk(folder, { hostname: vm.name, environment, hostKey: openSshPair(options.hostKeyPem, vm.name) });
  const group = network.groupOf(device);
  const ended = new AbortController();
  let boot: Boot | undefined;

  const follower = createFollower(options);
  const follow = (): void => {
    if (boot !== undefined && !ended.signal.aborted) follower.follow(boot.pid);
  };

  /** From power-on to the end of the startup script. `ready` resolves when SSH answers. */
  function begin(waitMilliseconds: number): { readonly ready: Promise<void>; readonly settled: Promise<void> } {
    const ready = (async () => {
      boot = await turnOn(options, group.path);
      follower.forget();
      follow();
      void boot.ended.then(fell);
      await awaitSsh(boot.pid, ended.signal);
    })();
    const settled = ready
      .then(() => sleep(waitMilliseconds, undefined, { signal: ended.signal, ref: false }))
      .then(() => boot && runStartupScript(options, boot, ended.signal))
      .catch((error: Error) => {
        if (!ended.signal.aborted) onSerial(`startup: ${error.message}`);
      });
    return { ready, settled };
  }

  /** We did not end it: the guest rebooted (the kernel signals that with SIGHUP), or turned itself off. */
  function fell(signal: NodeJS.Signals | null): void {
    if (ended.signal.aborted) return;
    group.remove();
    onSerial(signal === 'SIGHUP' ? 'reboot: Restarting system' : 'reboot: Power down');
    if (signal !== 'SIGHUP') {
      options.onPowerOff();
      return;
    }
    now = begin(0);
    now.ready.catch((error: Error) => onSerial(`the VM did not start: ${error.message}`));
  }

  let now = begin(options.startupMilliseconds);
  await now.ready;

  return {
    get settled() {
      return now.settled;
    },
    follow,
    async accept(port, from) {
      if (ended.signal.aborted) return { kind: 'dropped' };
      await now.ready.catch(() => undefined);
      return network.connect(vm.address, port, from === iapAddress ? from : undefined);
    },
    async end(silently) {
      ended.abort();
      await now.ready.catch(() => undefined);
      if (boot === undefined) return;
      if (silently) network.unplug(device);
      await turnOff(boot, silently);
      await now.settled;
      for (let attempt = 0; attempt < 100 && !group.remove(); attempt++) await sleep(20);
    },
  };
}

/** Returns when systemd is about to begin. */
async function turnOn({ vm, network, device, folder, base }: RealHostOptions, groupPath: string): Promise<Boot> {
  const argv = ['bash', bootVm, 'begin', vm.name, vm.address, device, folder, base, groupPath, process.execPath];
  const child = spawn('nsenter', [...network.entry, '--', ...argv], { stdio: ['ignore', 'pipe', 'pipe'] });
  const gone = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
  let complaint = '';
  child.stderr?.on('data', (data: Buffer) => {
    complaint = `${complaint}${data}`.slice(-2000);
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error(complaint.trim().replaceAll(/\s*\n\s*/g, '; ') || 'it ended at once')));
    child.stdout?.once('data', () => resolve());
  });
  // nsenter waits for unshare, and unshare for systemd.
  const [keeper = 0] = childrenOf(child.pid ?? 0);
  const [pid = 0] = childrenOf(keeper);
  return { child, pid, ended: gone };
}

async function runStartupScript({ metadata, onSerial }: RealHostOptions, { pid }: Boot, ended: AbortSignal) {
  const script = metadata('startup-script');
  if (script === undefined || script.trim() === '') return;
  await tellOf(spawn('nsenter', ['--target', String(pid), '--all', '--', ...startupUnit]), script, onSerial, ended);
}

/** Presses the power button. With `silently`, the power fails instead. */
async function turnOff({ pid, ended }: Boot, silently: boolean | undefined): Promise<void> {
  if (!silently) {
    tell(pid, powerOff);
    await Promise.race([ended, sleep(shutdownSeconds * 1000, undefined, { ref: false })]);
  }
  // When the first process dies, the kernel ends all others.
  tell(pid, 'SIGKILL');
  await ended;
}

/** Does the work of the guest agent after a change of the cloud. */
function createFollower({ names, metadata, outsidePorts }: RealHostOptions) {
  let last: { readonly keys: string; readonly ports: string } | undefined;
  return {
    /** Nothing is known about a guest that has just booted. */
    forget(): void {
      last = undefined;
    },
    follow(pid: number): void {
      const root = `/proc/${pid}/root`;
      if (lstatSync(root, { throwIfNoEntry: false }) === undefined) return;
      writeNames(root, names());
      const keys = metadata('ssh-keys') ?? '';
      if (keys !== last?.keys) writeLoginKeys(root, keys);
      const ports = outsidePorts().join(', ');
      if (ports !== last?.ports) redirect(pid, ports);
      last = { keys, ports };
    },
  };
}

async function awaitSsh(pid: number, ended: AbortSignal): Promise<void> {
  for (const until = Date.now() + bootSeconds * 1000; Date.now() < until; await sleep(30)) {
    if (ended.aborted || listens(pid, sshPort)) return;
  }
  throw new Error(`no SSH server listens after ${bootSeconds} s`);
}

const startupUnit = [
  ...['systemd-run', '--quiet', '--wait', '--pipe', '--collect', '--unit=google-startup-scripts', '--', 'bash', '-c'],
  runScript,
];

/**
 * The stand-ins for Google and others listen on this computer's loopback, and URLs name that address. Within a VM, such an
 * address leads out through its network, under the network's rules.
 */
function redirect(pid: number, ports: string): void {
  const rewriting = (hook: string, rule: string): string[] => [
    `  chain ${hook} {`,
    `    type nat hook ${hook} priority 0`,
    ...(ports === '' ? [] : [`    ${rule}`]),
    '  }',
  ];
  const input = [
    'table ip outside',
    'delete table ip outside',
    'table ip outside {',
    ...rewriting('output', `ip daddr 127.0.0.1 tcp dport { ${ports} } dnat to ${outsideAddress}`),
    ...rewriting('postrouting', `ip daddr ${outsideAddress} masquerade`),
    '}',
    '',
  ].join('\n');
  const run = spawnSync('nsenter', ['--target', String(pid), '--net', '--', 'nft', '--file', '-'], { input });
  if (run.status !== 0) throw new Error(`the way outside is not laid: ${run.stderr}`);
}

/** Whether anything listens on the port, on any address of the VM. It makes no connection that the VM would log. */
function listens(pid: number, port: number): boolean {
  const { stdout } = spawnSync(
    'nsenter',
    ['--target', String(pid), '--net', '--', 'ss', '--no-header', '-ltn', `sport = ${port}`],
    {
      encoding: 'utf8',
    },
  );
  return (stdout ?? '').includes('LISTEN');
}

function tell(pid: number, signal: NodeJS.Signals | number): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already ended.
  }
}
