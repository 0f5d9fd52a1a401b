/** The ways to isolate a simulated VM from this computer: bubblewrap if it is installed, else util-linux's unshare. */
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sha256 } from '../../shared/sha256.js';
import { ownFolders } from './disk.js';

/** What a VM sees at a path: a read-only path of this computer, a folder of its own, or a link. */
export interface Mount {
  readonly kind: 'read-only' | 'own' | 'link';
  /** Source of the mount. For a link: its target. */
  readonly from: string;
  readonly to: string;
}

interface Isolated {
  readonly child: ChildProcess;
  /** Process id of the first process inside, as seen by this system. Rejects if it ends before that is known. */
  readonly pid: Promise<number>;
  /** The first line that the command prints. Empty if it ends first. */
  readonly said: Promise<string>;
}

interface IsolationOptions {
  /** An empty folder that nobody else uses. */
  readonly root: string;
  readonly hostname: string;
  readonly mounts: readonly Mount[];
  readonly command: readonly string[];
}

/** New namespaces of all kinds, with a single user id, which is root inside. They end with this process. */
export interface Isolation {
  readonly name: 'bwrap' | 'unshare';
  start(options: IsolationOptions): Isolated;
  /** Tries it. Returns the complaint, or undefined if it works. */
  trial(): string | undefined;
}

export const machinePath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The build compiles only sources. Scripts and programs stay in the checkout. */
export const sourceFolder = fileURLToPath(new URL('../../../local/machines', import.meta.url));
const checkout = fileURLToPath(new URL('../../..', import.meta.url));
/** The path at which a VM sees our own programs. */
export const ownPrograms = '/run/plinth-local';

const readOnly = (from: string, to = from): Mount => ({ kind: 'read-only', from, to });

/** `folder` is the VM's disk. Later mounts cover earlier ones. */
export function mountsOf(folder: string): Mount[] {
  const nodeIsOutside = !process.execPath.startsWith('/usr/') || process.execPath.startsWith('/usr/local/');
  return [
    ...thisSystem(),
    ...hiding(),
    ...ownFolders.map((name): Mount => ({ kind: 'own', from: join(folder, name), to: `/${name}` })),
    ...['/etc/alternatives', '/etc/ld.so.cache', '/etc/ld.so.conf'].filter(existsSync).map((path) => readOnly(path)),
    readOnly(join(sourceFolder, 'programs'), '/usr/local/sbin'),
    ...(nodeIsOutside ? [readOnly(process.execPath, '/usr/local/bin/node')] : []),
    ...['dist', 'node_modules', 'package.json'].map((name) => readOnly(join(checkout, name), `${ownPrograms}/${name}`)),
    readOnly(join(sourceFolder, 'archive'), `${ownPrograms}/archive`),
  ];
}

/** The read-only part of this computer: its programs, and the links to them. */
function thisSystem(): Mount[] {
  const top = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].filter(existsSync);
  return [
    readOnly('/usr'),
    ...top.map(
      (path): Mount =>
        lstatSync(path).isSymbolicLink() ? { kind: 'link', from: readlinkSync(path), to: path } : readOnly(path),
    ),
  ];
}

/**
 * The archive holds programs that a VM gets only by apt-get. If a folder of this computer has one of them, the VM sees links
 * to all its other programs instead. So machines are the same on each computer.
 */
function hiding(): Mount[] {
  const archive = join(sourceFolder, 'archive');
  const brought = new Set(
    readdirSync(archive).flatMap((name) => {
      const programs = join(archive, name, 'bin');
      return existsSync(programs) ? readdirSync(programs) : [];
    }),
  );
  return ['/usr/bin', '/usr/sbin', '/bin', '/sbin'].flatMap((path) => {
    if (!existsSync(path) || lstatSync(path).isSymbolicLink()) return [];
    const names = readdirSync(path);
    if (!names.some((name) => brought.has(name))) return [];
    const original = `${ownPrograms}/programs${path}`;
    const others = names.filter((name) => !brought.has(name));
    return [readOnly(path, original), readOnly(linksTo(original, others), path)];
  });
}

/**
 * Makes a folder of links, once for all machines, and names it by its content. It is where tools keep what they can make
 * again.
 */
function linksTo(original: string, names: readonly string[]): string {
  const folder = join(
    checkout,
    'node_modules',
    '.cache',
    'plinth',
    `links-${sha256(JSON.stringify([original, names]))}`,
  );
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${randomUUID()}`;
  mkdirSync(draft, { recursive: true });
  for (const name of names) symlinkSync(`${original}/${name}`, join(draft, name));
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another process was faster.
    rmSync(draft, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
