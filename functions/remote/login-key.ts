/** Reads private keys as people have them on disk, also locked or in PKCS #8, and prepares them for ssh2. */
import { createPrivateKey } from 'node:crypto';
import ssh2 from 'ssh2';
import { openSshPair } from '../../shared/openssh.js';

export type LoginKey =
  | { readonly kind: 'usable'; readonly privateKey: string; readonly passphrase?: string | undefined }
  /** It needs a passphrase, or another one than was given. */
  | { readonly kind: 'locked' }
  | { readonly kind: 'unusable'; readonly why: string };

export function readLoginKey(text: string, passphrase?: string): LoginKey {
  if (/-----BEGIN (?:ENCRYPTED )?PRIVATE KEY-----/.test(text)) return readPkcs8(text, passphrase);
  const parsed = ssh2.utils.parseKey(text, passphrase);
  if (parsed instanceof Error) {
    return /encrypted|passphrase|integrity|decrypt/i.test(parsed.message)
      ? { kind: 'locked' }
      : { kind: 'unusable', why: parsed.message };
  }
  if (![parsed].flat().some((key) => key.isPrivateKey())) return { kind: 'unusable', why: 'it holds no private key' };
  return { kind: 'usable', privateKey: text, ...(passphrase === undefined ? {} : { passphrase }) };
}

/**
 * The public half, as it follows the first blank of an OpenSSH public key. A locked key in OpenSSH's own form shows it too. A
 * locked key in another form doesn't: undefined.
 */
export function publicHalfOf(text: string): string | undefined {
  const read = readLoginKey(text);
  if (read.kind === 'usable') {
    const [key] = [ssh2.utils.parseKey(read.privateKey)].flat();
    return key === undefined || key instanceof Error ? undefined : key.getPublicSSH().toString('base64');
  }
  return read.kind === 'locked' ? openSshPublicHalf(text) : undefined;
}

/**
 * OpenSSH's PROTOCOL.key: a magic word, three strings about the cipher, the number of keys, and the public half unencrypted.
 */
function openSshPublicHalf(text: string): string | undefined {
  const [, coded] = /-----BEGIN OPENSSH PRIVATE KEY-----([\s\S]+)-----END/.exec(text) ?? [];
  if (coded === undefined) return undefined;
  const bytes = Buffer.from(coded, 'base64');
  let at = 'openssh-key-v1\0'.length;
  const next = (): Buffer => {
    const length = bytes.readUInt32BE(at);
    at += 4 + length;
    return bytes.subarray(at - length, at);
  };
  try {
    for (let strings = 0; strings < 3; strings += 1) next();
    at += 4;
    return next().toString('base64');
  } catch {
    return undefined;
  }
}

/** ssh2 doesn't know PKCS #8. */
function readPkcs8(text: string, passphrase: string | undefined): LoginKey {
  try {
    const pem = createPrivateKey({ key: text, passphrase }).export({ type: 'pkcs8', format: 'pem' });
    return { kind: 'usable', privateKey: openSshPair(String(pem), '').privateKey };
  } catch (error) {
    if (text.includes('BEGIN ENCRYPTED')) return { kind: 'locked' };
    return { kind: 'unusable', why: error instanceof Error ? error.message : String(error) };
  }
}
