/** Files on the caller's disk. A read or write covers the whole file or nothing. */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, isAbsolute, join, parse, resolve } from 'node:path';
import { Problem } from '../../shared/problems.js';
import type { Settings } from '../settings.js';

/** No text that a user writes by hand is larger. */
const mostText = 1024 * 1024;

/**
 * The whole content. Throws if it cannot be read, is no regular file, or is larger than `most`. Every file that is read as a
 * whole is read here.
 */
export function readBytes(path: string, most = mostText): Buffer {
  return withRegularFile(path, (file, size) => {
    if (size > most) throw tooLarge(path, most);
    const content = readFileSync(file);
    // It may grow, and some files of the system have no size.
    if (content.length > most) throw tooLarge(path, most);
    return content;
  });
}

const tooLarge = (path: string, most: number): Error =>
  unfit(path, `it is larger than ${most >= mostText ? `${most / mostText} MiB` : `${most / 1024} KiB`}`);

/** With words of its own, which `reason` shows. */
const unfit = (path: string, why: string): Error => Object.assign(new Error(why), { code: 'UNFIT', path });

/** Undefined if there is no such file. Throws if it cannot be read. Whatever is no text is replaced. */
export const readIfThere = (path: string): string | undefined => ifThere(() => readBytes(path).toString('utf8'));

/** Undefined if there is no such file. */
export function ifThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Opens a file that can be read more than once. */
export function withRegularFile<T>(path: string, use: (file: number, size: number) => T): T {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(file);
    if (found.isDirectory()) throw unfit(path, 'it is a folder');
    // A read empties a pipe, so nothing would be left for the later reader.
    if (!found.isFile()) throw unfit(path, irregular);
    return use(file, found.size);
  } finally {
    closeSync(file);
  }
}

const irregular = 'it is no regular file, which can be read more than once';

/** Why a file cannot be read, in words. Undefined if it can. The file may be larger than memory. */
export function whyUnreadable(path: string): string | undefined {
  try {
    withRegularFile(path, (file) => readSync(file, Buffer.alloc(1), 0, 1, 0));
    return undefined;
  } catch (error) {
    return reason(error);
  }
}

export function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const words: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file',
    EACCES: 'it may not be read',
    EISDIR: 'it is a folder',
    ENOTDIR: 'its folder is a file',
  };
  return words[code ?? ''] ?? message;
}

/**
 * Writes through a temporary file and a rename, so that nobody ever sees half of it. A link of ours stays a link. The new file
 * keeps the read restrictions of the old one.
 */
export function writeWhole(path: string, content: string, mode: number): void {
  const target = targetOf(path);
  const stood = statSync(target, { throwIfNoEntry: false })?.mode ?? 0o777;
  const temporary = temporaryBeside(target);
  try {
    writeNew(temporary, content, mode, mode & stood);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    // The name of the temporary file tells people nothing.
    throw (error as NodeJS.ErrnoException).path === undefined ? error : Object.assign(error as Error, { path: target });
  }
}

/** The umask may remove bits, and a secret must be readable. By its handle, because the name may be a link by then. */
function writeNew(path: string, content: string, wanted: number, mode: number): void {
  const file = openSync(path, 'wx', mode);
  try {
    writeFileSync(file, content, { flush: true });
    if (wanted === secretMode) fchmodSync(file, wanted);
  } finally {
    closeSync(file);
  }
}

/**
 * Where links lead. In a folder that people share, such as /tmp, somebody else may have put a link in place of our file. It
 * would have us write over any other file of ours, so it is not followed. Linux has the same rule (`fs.protected_symlinks`).
 */
function targetOf(path: string): string {
  const self = ownId();
  let target = path;
  for (let links = 0; links < mostLinks; links += 1) {
    const found = lstatSync(target, { throwIfNoEntry: false });
    // What a dangling link stands for is written in its place.
    if (found?.isSymbolicLink() !== true || !existsSync(target)) return target;
    if (self !== undefined && found.uid !== self && found.uid !== 0) throw linkOfAnother(target);
    target = resolve(realpathSync(dirname(target)), readlinkSync(target));
  }
  return target;
}

/** Undefined: there are no users here, or the user has no entry in the system's list, as in some containers. */
function ownId(): number | undefined {
  try {
    const { uid } = userInfo();
    return uid === -1 ? undefined : uid;
  } catch {
    return undefined;
  }
}

/** As Linux follows. */
const mostLinks = 40;

const foreignLink = 'it is a link of another user, and plinth does not follow it';
const linkOfAnother = (path: string): Problem =>
  new Problem('bad-input', `${path} cannot be written: ${foreignLink}.`, {
    advice: 'Remove the link, or name the file that it leads to.',
  });

const temporaryBeside = (target: string): string =>
  join(dirname(target), `.${parse(target).base}.${randomBytes(6).toString('hex')}.tmp`);

/**
 * Why a path cannot be written, in words. Undefined if it can. It tries a write, because permissions alone don't tell: root
 * has all of them.
 */
export function whyUnwritable(path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) return 'it is a folder';
    if (found !== undefined && !found.isFile()) return 'it is no regular file';
    const trial = temporaryBeside(targetOf(path));
    writeFileSync(trial, '', { mode: secretMode, flag: 'wx' });
    rmSync(trial);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return foreignLink;
    const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT' && !existsSync(dirname(path));
    return isGone ? 'there is no such folder' : reasonOfWriting(error);
  }
}

/** The same for whatever is written into a folder that is made when it is needed. */
export function whyNothingIn(folder: string): string | undefined {
  try {
    let standing = folder;
    while (statSync(standing, { throwIfNoEntry: false }) === undefined) standing = dirname(standing);
    return whyUnwritable(join(standing, parse(folder).base));
  } catch (error) {
    return reasonOfWriting(error);
  }
}

/** For what the disk refuses, wherever it happens. Undefined for any other error. */
export function problemOfDisk(error: unknown): Problem | undefined {
  const { code = '', path, syscall = '' } = error as NodeJS.ErrnoException;
  if (path !== undefined && ['UNFIT', 'NO_TEXT'].includes(code)) {
    return new Problem('bad-input', `${path} cannot be read: ${reason(error)}.`, { cause: error });
  }
  if (path === undefined || !ofDisk.has(code) || /^(?:connect|spawn)/.test(syscall)) return undefined;
  return new Problem('bad-input', `${path} cannot be used: ${reasonOfWriting(error)}.`, {
    advice: 'Make it readable and writable for you, and run the command again.',
    cause: error,
  });
}
const ofDisk: ReadonlySet<string> = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOSPC',
  'EDQUOT',
  'ENOTDIR',
  'EISDIR',
  'ELOOP',
  'EEXIST',
  'ENAMETOOLONG',
]);

export function reasonOfWriting(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const words: Readonly<Record<string, string>> = {
    ENOENT: 'its folder takes no files, or is gone',
    EACCES: 'its folder may not be written',
    EPERM: 'its folder may not be written',
    EROFS: 'its disk is read-only',
    ENOSPC: 'its disk is full',
    EDQUOT: 'your quota of its disk is used up',
    ENOTDIR: 'its folder is a file',
    EISDIR: 'a folder stands there',
  };
  return words[code ?? ''] ?? message.split('\n')[0] ?? '';
}

/**
 * A word that becomes part of a path: an id or a key, as the service said it. Throws `conflict` where it would lead to another
 * folder.
 */
export function fileWord(word: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9-]{0,99}$/.test(word)) return word;
  throw new Problem(
    'conflict',
    `No file is written: ${JSON.stringify(word.slice(0, 100))} is no id that plinth makes.`,
    {
      advice: 'Somebody may have changed the record. Tell an operator.',
    },
  );
}

export const secretMode = 0o600;
export const openMode = 0o644;

/** An existing file with the right content may still be readable by others. */
export function keepSecret(path: string): void {
  if ((statSync(path).mode & 0o777) !== secretMode) chmodSync(path, secretMode);
}

/** An existing folder may be writable by others, who could then replace our files with theirs. */
export function makeSecretFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { mode } = statSync(path);
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(path, mode & 0o7700);
  } catch (error) {
    // We may not change its mode. If only we can write into it, the modes of the files suffice.
    if ((mode & 0o022) === 0) return;
    throw new Problem(
      'forbidden',
      `${path} may be written by others, and cannot be closed to them: ${reason(error)}.`,
      {
        advice: `Let its owner do that: chmod 700 ${path}`,
        cause: error,
      },
    );
  }
}

/** `config.yaml` → `config.<word>.yaml`, with a number if that name is taken too. */
export function asidePath(path: string, word: string): string {
  const { dir, name, ext } = parse(path);
  for (let n = 1; ; n += 1) {
    const aside = join(dir, `${name}.${word}${n === 1 ? '' : `-${n}`}${ext}`);
    if (!existsSync(aside)) return aside;
  }
}

/** `prod.vault.yaml` → `prod-dc2.vault.yaml`. The suffix goes before the first dot of the name. */
export function withSuffix(path: string, suffix: string): string {
  if (suffix === '') return path;
  const { dir, base } = parse(path);
  const dot = base.indexOf('.', 1);
  return join(dir, dot === -1 ? `${base}${suffix}` : `${base.slice(0, dot)}${suffix}${base.slice(dot)}`);
}

/** `~/x` → `<home>/x`. */
export const expandHome = (path: string, home: string): string =>
  path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path;

/** Makes a path as given one that can be opened. The path isn't normalized: behind a link, `..` is another folder. */
export const placeOf = (path: string, { folder }: Pick<Settings, 'folder'>): string =>
  folder === undefined || path === '' || isAbsolute(path) ? path : `${folder}/${path}`;

/** The same for a path that may begin with `~`. */
export const homePlaceOf = (path: string, settings: Pick<Settings, 'home' | 'folder'>): string =>
  placeOf(expandHome(path, settings.home), settings);
