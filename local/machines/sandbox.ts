/**
 * A running VM without its network and SSH: one long-lived sandbox with namespaces of its own. nsenter starts programs in it.
 * They see nothing of the real file system except programs and libraries.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type Isolation, machinePath, mountsOf, ownPrograms } from './isolation.js';

export interface SandboxOptions {
  /** The folder of the VM's disk. */
  readonly folder: string;
  readonly hostname: string;
  /** The VM's address in the VPC. */
  readonly address: string;
  readonly isolation: Isolation;
}

interface Program {
  /** The user within the sandbox. */
  readonly user: string;
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: true. Without it, the program and what it starts can't leave the user's view. */
  readonly mayUseSudo?: boolean;
}

export interface Sandbox {
  /** Process id of the sandbox's first process, as this system sees it. */
  readonly pid: number;
  /** Runs a program in a process group of its own. The returned process ends with it. */
  run(program: Program): ChildProcessWithoutNullStreams;
  /** nsenter's arguments to enter only the network, for relays. Everything else remains this system's. */
  readonly networkEntry: readonly string[];
  /** Powers off. Nothing of the sandbox runs afterwards. */
  end(): Promise<void>;
}

const programFolder = `${ownPrograms}/dist/local/machines`;
export const sftpServer = ['node', `${programFolder}/sftp-server.mjs`];

export const homeOf = (user: string): string => (user === 'root' ? '/root' : `/home/${user}`);

/** The stand-in for `sudo` enters another file system, and only capabilities let it. */
const withoutCapabilities = ['/usr/bin/setpriv', '--bounding-set', '-all', '--inh-caps', '-all', '--'];

/** The environment of a login. `sudo` has to ask for more. */
const environmentOf = (user: string): Record<string, string> => ({
  PATH: machinePath,
  HOME: homeOf(user),
  USER: user,
  LOGNAME: user,
  SHELL: '/bin/bash',
  LANG: 'C.UTF-8',
  // The way to other machines: see outbound.ts.
  ALL_PROXY: 'socks5h://127.0.0.1:1080',
  all_proxy: 'socks5h://127.0.0.1:1080',
  HTTPS_PROXY: 'http://127.0.0.1:1080',
  https_proxy: 'http://127.0.0.1:1080',
  // For Go programs, which ignore ALL_PROXY. curl reads it only in lower case.
  HTTP_PROXY: 'http://127.0.0.1:1080',
});

export async function startSandbox({ folder, hostname, address, isolation }: SandboxOptions): Promise<Sandbox> {
  const command = ['bash', '-c', init, 'init', address];
  const started = isolation.start({
    root: join(folder, 'root-of-sandbox'),
    hostname,
    mounts: mountsOf(folder),
    command,
  });
  const { child } = started;
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const complaint = text(child.stderr as Readable).catch(() => '');
  const [pid, inside] = await Promise.all([started.pid, started.said]).catch(() => [0, ''] as const);
  if (inside === '') {
    child.kill('SIGKILL');
    throw new Error(`the VM ${hostname} did not start: ${(await complaint).trim()}`);
  }
  const guestPid = outsideNumber(pid, inside);
  const entry = ['-t', String(pid), '-U', '--preserve-credentials'];
  return {
    pid,
    networkEntry: [...entry, '-n'],
    run({ user, argv, env = {}, mayUseSudo = true }) {
      const given = Object.entries({ ...environmentOf(user), ...env }).map(([name, value]) => `${name}=${value}`);
      const view = `-m/proc/${user === 'root' ? pid : guestPid}/ns/mnt`;
      const bare = mayUseSudo ? [] : withoutCapabilities;
      const program = [...bare, '/usr/bin/env', '-i', ...given, ...argv];
      return spawn('nsenter', [...entry, view, '-p', '-i', '-u', '-n', '--', ...program], { detached: true, cwd: '/' });
    },
    async end() {
      try {
        // When its first process dies, the kernel ends all others.
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has already ended.
      }
      await ended;
    },
  };
}

/**
 * The file system as users other than root see it. An unprivileged sandbox has a single user id, so permissions alone would
 * protect nothing. `sudo` leaves this view again.
 */
const guestView = [
  'set -e',
  'mount --bind /var/tmp /var/tmp',
  ...['/etc', '/opt', '/srv', '/usr/local', '/var'].map((path) => `mount -o remount,bind,ro ${path}`),
  'mount --bind /etc/passwd.guest /etc/passwd',
  'mount -t tmpfs -o mode=000,size=4k,ro none /root',
  'echo $$',
  'exec sleep infinity >/dev/null 2>&1',
].join('\n');

/**
 * Sets up the sandbox's network. The kernel takes all of the network's addresses for its own. So programs can listen on the
 * VM's address, and see connections from other VMs' addresses.
 *
 * Without `ip`, Perl gives the same network.
 */
const network = [
  'ip link set lo up 2>/dev/null && ip address add "$1/8" dev lo 2>/dev/null ||',
  `perl -MSocket -e 'socket(my $s, AF_INET, SOCK_DGRAM, 0); ioctl($s, 0x8916, pack("a16 S x2 a4 x8", "lo:1", AF_INET, inet_aton($ARGV[0])));`,
  `ioctl($s, 0x8914, pack("a16 s x22", $_, 0x41)) for "lo", "lo:1"' "$1"`,
].join(' ');

/** Stays as the first process. Its shell reaps the processes that others leave behind. */
const init = `${network}; unshare -m bash -c '${guestView}' & exec >/dev/null 2>&1; sleep infinity & wait`;

/** Finds this system's id of a process by its id within the sandbox. */
function outsideNumber(first: number, inside: string): number {
  const namespace = readlinkSync(`/proc/${first}/ns/pid`);
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const numbers = /^NSpid:\s+(.+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1]?.split(/\s+/);
      if (numbers?.at(-1) === inside && readlinkSync(`/proc/${name}/ns/pid`) === namespace) return Number(name);
    } catch {
      // It has ended, or belongs to another user.
    }
  }
  throw new Error(`process ${inside} of the sandbox ${first} is not to be found`);
}
