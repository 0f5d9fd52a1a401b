/**
 * A running VM without its network and SSH: one long-lived bubblewrap sandbox with namespaces of its own, into which
 * programs are put by nsenter. Nothing of the real file system is seen but programs and libraries. Made by machine.ts.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ownFolders } from './disk.js';

export interface SandboxOptions {
  /** The VM's disk. */
  readonly folder: string;
  readonly hostname: string;
  /** In the VPC. */
  readonly address: string;
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

/** Beside the compiled code lie only the sources: the programs stay where they are in the checkout. */
const programsFolder = fileURLToPath(new URL('../../../local/machines/programs', import.meta.url));

const sftpProgram = fileURLToPath(new URL('./sftp-server.mjs', import.meta.url));
const sftpInside = '/run/plinth-local/sftp-server.mjs';
export const sftpServer = ['node', sftpInside];

const machinePath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What the host gives to read: its programs, and the links and caches that they need. */
function hostBinds(): string[] {
  const binds = ['--ro-bind', '/usr', '/usr'];
  for (const name of ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']) {
    const path = `/${name}`;
    if (!existsSync(path)) continue;
    const isLink = lstatSync(path).isSymbolicLink();
    binds.push(...(isLink ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]));
  }
  return binds;
}

const hostFilesInEtc = ['/etc/alternatives', '/etc/postgresql-common', '/etc/ld.so.cache', '/etc/ld.so.conf'];

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

export async function startSandbox({ folder, hostname, address }: SandboxOptions): Promise<Sandbox> {
  const nodeIsOutside = !process.execPath.startsWith('/usr/') || process.execPath.startsWith('/usr/local/');
  const args = [
    ...['--unshare-all', '--unshare-user', '--uid', '0', '--gid', '0', '--cap-add', 'ALL'],
    ...['--hostname', hostname, '--die-with-parent', '--new-session', '--clearenv', '--setenv', 'PATH', machinePath],
    ...hostBinds(),
    ...ownFolders.flatMap((name) => ['--bind', join(folder, name), `/${name}`]),
    ...hostFilesInEtc.flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--ro-bind', programsFolder, '/usr/local/sbin'],
    ...(nodeIsOutside ? ['--ro-bind', process.execPath, '/usr/local/bin/node'] : []),
    ...['--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run', '--dir', '/run/lock', '--chdir', '/'],
    ...['--ro-bind', sftpProgram, sftpInside],
    ...['--info-fd', '3', '--', 'bash', '-c', init, 'init', address],
  ];
  const child = spawn('bwrap', args, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const complaint = text(child.stderr as Readable).catch(() => '');
  const info = text(child.stdio[3] as Readable).catch(() => '');
  const inside = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => resolve(''));
    child.stdout?.once('data', (data: Buffer) => resolve(data.toString().trim()));
  });
  if (inside === '') throw new Error(`the VM ${hostname} did not start: ${(await complaint).trim()}`);
  const pid = (JSON.parse(await info) as { 'child-pid': number })['child-pid'];
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

// Programs may listen on the VM's own address; where `ip` is missing, on loopback.
const init = `ip address add "$1/32" dev lo 2>/dev/null; unshare -m bash -c '${guestView}' & exec sleep infinity >/dev/null 2>&1`;

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
