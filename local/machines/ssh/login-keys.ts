/**
 * Who may log in to a VM: `~/.ssh/authorized_keys` in its file system. The guest agent keeps it in step with the metadata
 * `ssh-keys`, even while the VM runs. The VM's SSH server reads it at each login.
 */
import { chmodSync, lchownSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { homeOf } from '../sandbox.js';

/** Google's agent marks its own lines with this, and leaves all others alone. */
const mark = '# Added by Google';

export interface LoginKey {
  readonly type: string;
  /** Base64. */
  readonly blob: string;
  /** `command="…"` before the key: the key may run only that. */
  readonly command?: string | undefined;
}

/** Reads lines `user:key`. A key past its `expireOn` does not count. */
function keysInMetadata(text: string, now: number): Map<string, string[]> {
  const keys = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, user, key] = /^\s*([a-z_][\w.-]*):(.+)$/.exec(line) ?? [];
    if (user === undefined || key === undefined) continue;
    const expiry = /google-ssh\s+\{.*"expireOn"\s*:\s*"([^"]+)"/.exec(key)?.[1];
    if (expiry !== undefined && Date.parse(expiry) < now) continue;
    keys.set(user, [...(keys.get(user) ?? []), key.trim()]);
  }
  return keys;
}

/** No part of the path may be a link: it would lead out of the VM's files into this system's. */
function isPlain(folder: string, path: string): boolean {
  let at = folder;
  for (const part of path.split('/').filter((one) => one !== '')) {
    at = join(at, part);
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) return false;
  }
  return true;
}

export function readPlain(folder: string, path: string): string {
  try {
    return isPlain(folder, path) ? readFileSync(join(folder, path), 'utf8') : '';
  } catch {
    return '';
  }
}

const fileOf = (user: string): string => `${homeOf(user)}/.ssh/authorized_keys`;

/** Does what Google's guest agent does: makes the named users, adds their keys, and removes its other lines. */
export function writeLoginKeys(folder: string, metadata: string): void {
  const wanted = keysInMetadata(metadata, Date.now());
  for (const user of new Set(['root', ...readdirSync(join(folder, 'home')), ...wanted.keys()])) {
    const file = fileOf(user);
    const stands = readPlain(folder, file);
    const lines = stands.split('\n').filter((line) => line !== '');
    const others = lines.filter((line, at) => line !== mark && lines[at - 1] !== mark);
    const text = [...others, ...(wanted.get(user) ?? []).flatMap((key) => [mark, key]), ''].join('\n');
    if (text === stands || (stands === '' && text === '') || !isPlain(folder, file)) continue;
    mkdirSync(join(folder, homeOf(user), '.ssh'), { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, file), text);
    chmodSync(join(folder, file), 0o600);
    const { uid, gid } = lstatSync(join(folder, homeOf(user)));
    for (const path of [dirname(file), file]) lchownSync(join(folder, path), uid, gid);
  }
}

export const loginKeys = (folder: string, user: string): LoginKey[] =>
  readPlain(folder, fileOf(user)).split('\n').flatMap(loginKeysIn);

/** The key in a line of `authorized_keys`, or none. */
export function loginKeysIn(line: string): LoginKey[] {
  const [, options = '', type, blob] =
    /^\s*((?:[^#\s"]|"(?:\\.|[^"])*")+\s+)?((?:ssh|ecdsa|sk)-[\w@.-]+)\s+([A-Za-z0-9+/=]+)/.exec(line) ?? [];
  if (type === undefined || blob === undefined) return [];
  const command = /command="((?:\\.|[^"])*)"/.exec(options)?.[1]?.replaceAll('\\"', '"');
  return [{ type, blob, command }];
}

/** Whether the image itself has the user. With OS Login, all others are users of OS Login. */
export const isOfImage = (user: string): boolean => ['root', 'ubuntu'].includes(user);

/** Makes the home of a user at the first login, as PAM does for users of OS Login. */
export function makeHome(folder: string, user: string): void {
  if (isPlain(folder, homeOf(user))) mkdirSync(join(folder, homeOf(user)), { recursive: true, mode: 0o700 });
}
