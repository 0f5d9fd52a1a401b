/**
 * A running VM without its network and SSH: one long-lived sandbox with namespaces of its own, into which programs are put
 * by nsenter. Nothing of the real file system is seen but programs and libraries.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type Isolation, machinePath, mountsOf, ownPrograms } from './isolation.js';

export interface SandboxOptions {
  /** The VM's disk. */
  readonly folder: string;
  readonly hostname: string;
  /** In the VPC. */
  readonly address: string;
  readonly isolation: Isolation;
}

interface Program {
  /** Of the caller, within the sandbox. */
  readonly user: string;
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Sandbox {
  /** Of the sandbox's first process, as this system counts. */
  readonly pid: number;
  /** In a process group of its own; its end is the end of the program. */
  run(program: Program): ChildProcessWithoutNullStreams;
  /** Where the VM's file system is reached from outside, with the rights of that user. */
  rootFor(user: string): string;
  /** Enters only the network, for relays; everything else is this system's. */
  readonly networkEntry: readonly string[];
  /** Power off: nothing of it runs afterwards. */
  end(): Promise<void>;
}

const programFolder = `${ownPrograms}/dist/local/machines`;
export const sftpServer = ['node', `${programFolder}/sftp-server.mjs`];

export const homeOf = (user: string): string => (user === 'root' ? '/root' : `/home/${user}`);

/** As a login gives it; `sudo` has to ask for more. */
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
  // For programs in Go, which know no ALL_PROXY; curl takes it in small letters alone.
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
    run({ user, argv, env = {} }) {
      const given = Object.entries({ ...environmentOf(user), ...env }).map(([name, value]) => `${name}=${value}`);
      const view = `-m/proc/${user === 'root' ? pid : guestPid}/ns/mnt`;
      return spawn('nsenter', [...entry, view, '-p', '-i', '-u', '-n', '--', '/usr/bin/env', '-i', ...given, ...argv], {
        detached: true,
        cwd: '/',
      });
    },
    rootFor: (user) => `/proc/${user === 'root' ? pid : guestPid}/root`,
    async end() {
      try {
        // Its first process takes all others with it.
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended already.
      }
      await ended;
    },
  };
}

/**
 * The files as those see them who are not root: a sandbox that anybody may make has a single user number, so that
 * permissions alone would keep nobody out. `sudo` steps out of this view again.
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
 * Its network is up. All of the network's addresses are its own as far as the kernel knows, so that programs listen on the VM's, and
 * see others come from theirs. Perl is there where `ip` is not; it gives the same net.
 */
const network = [
  'ip link set lo up 2>/dev/null && ip address add "$1/8" dev lo 2>/dev/null ||',
  `perl -MSocket -e 'socket(my $s, AF_INET, SOCK_DGRAM, 0); ioctl($s, 0x8916, pack("a16 S x2 a4 x8", "lo:1", AF_INET, inet_aton($ARGV[0])));`,
  `ioctl($s, 0x8914, pack("a16 s x22", $_, 0x41)) for "lo", "lo:1"' "$1"`,
].join(' ');

/** It stays, as the first process: what others leave behind is taken away by its shell. */
const init = `${network}; unshare -m bash -c '${guestView}' & exec >/dev/null 2>&1; sleep infinity & wait`;

/** What this system calls a process that has this number within the sandbox. */
function outsideNumber(first: number, inside: string): number {
  const namespace = readlinkSync(`/proc/${first}/ns/pid`);
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const numbers = /^NSpid:\s+(.+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1]?.split(/\s+/);
      if (numbers?.at(-1) === inside && readlinkSync(`/proc/${name}/ns/pid`) === namespace) return Number(name);
    } catch {
      // It ended meanwhile, or is somebody else's.
    }
  }
  throw new Error(`process ${inside} of the sandbox ${first} is not to be found`);
}
