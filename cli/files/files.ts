/** Files on the caller's disk: read whole or not there, written whole or not at all. */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join, parse } from 'node:path';
import { Problem } from '../../shared/problems.js';
import type { Settings } from '../settings.js';

/** Undefined when there is none. Throws when it cannot be read. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Why a file cannot be read, in words; undefined when it can. It may be larger than what memory holds. */
export function whyUnreadable(path: string): string | undefined {
  let file: number;
  try {
    // To open a pipe would wait until somebody writes into it.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return reason(error);
  }
  try {
    const found = fstatSync(file);
    if (found.isDirectory()) return 'it is a folder';
    // What is read of a pipe is gone from it, and nothing would be left for the one who needs it.
    if (!found.isFile()) return 'it is no regular file, which can be read more than once';
    readSync(file, Buffer.alloc(1), 0, 1, 0);
    return undefined;
  } catch (error) {
    return reason(error);
  } finally {
    closeSync(file);
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
 * Through a temporary file and a rename, so that nobody ever sees half of it. A link stays a link, and who was kept from reading
 * what stood is kept from reading what replaces it.
 */
export function writeWhole(path: string, content: string, mode: number): void {
  const target = existsSync(path) ? realpathSync(path) : path;
  const stood = statSync(target, { throwIfNoEntry: false })?.mode ?? 0o777;
  const temporary = temporaryBeside(target);
  try {
    writeFileSync(temporary, content, { mode: mode & stood, flag: 'wx', flush: true });
    // The mask of the process may have taken bits away.
    if (mode === secretMode) chmodSync(temporary, mode);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

const temporaryBeside = (target: string): string =>
  join(dirname(target), `.${parse(target).base}.${randomBytes(6).toString('hex')}.tmp`);

/** Why nothing can be written to a path, in words; undefined when it can. Tried, as rights alone do not tell: root has them all. */
export function whyUnwritable(path: string): string | undefined {
  try {
    const trial = temporaryBeside(existsSync(path) ? realpathSync(path) : path);
    writeFileSync(trial, '', { mode: secretMode, flag: 'wx' });
    rmSync(trial);
    return undefined;
  } catch (error) {
    return reasonOfWriting(error);
  }
}

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

export const secretMode = 0o600;
export const openMode = 0o644;

/** A file that stands and whose content is right may still be open to others. */
export function keepSecret(path: string): void {
  if ((statSync(path).mode & 0o777) !== secretMode) chmodSync(path, secretMode);
}

/** One that stands may be open to others, who could then put files of theirs in the place of ours. */
export function makeSecretFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { mode } = statSync(path);
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(path, mode & 0o7700);
  } catch (error) {
    // Not ours to change; as long as only we write into it, the modes of the files do.
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

/** `config.yaml` → `config.<word>.yaml`, with a number if that is taken too. */
export function asidePath(path: string, word: string): string {
  const { dir, name, ext } = parse(path);
  for (let n = 1; ; n += 1) {
    const aside = join(dir, `${name}.${word}${n === 1 ? '' : `-${n}`}${ext}`);
    if (!existsSync(aside)) return aside;
  }
}

/** `prod.vault.yaml` → `prod-dc2.vault.yaml`: the suffix goes before the first dot of the name. */
export function withSuffix(path: string, suffix: string): string {
  if (suffix === '') return path;
  const { dir, base } = parse(path);
  const dot = base.indexOf('.', 1);
  return join(dir, dot === -1 ? `${base}${suffix}` : `${base.slice(0, dot)}${suffix}${base.slice(dot)}`);
}

/** `~/x` → `<home>/x`. */
export const expandHome = (path: string, home: string): string =>
  path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path;

/** A path as it was said, made one that can be opened. It is not tidied up: behind a link `..` is another folder. */
export const placeOf = (path: string, { folder }: Pick<Settings, 'folder'>): string =>
  folder === undefined || path === '' || isAbsolute(path) ? path : `${folder}/${path}`;

/** The same of a path that may begin with `~`. */
export const homePlaceOf = (path: string, settings: Pick<Settings, 'home' | 'folder'>): string =>
  placeOf(expandHome(path, settings.home), settings);
