/** Reads private keys as people have them on disk, also locked or in PEM, and prepares them for ssh2. */
import { createPrivateKey } from 'node:crypto';
import ssh2 from 'ssh2';
import { openSshPair } from '../../shared/openssh.js';

export type LoginKey =
  | { readonly kind: 'usable'; readonly privateKey: string; readonly passphrase?: string | undefined }
  /** It needs a passphrase, or another one than was given. */
  | { readonly kind: 'locked' }
  | { readonly kind: 'unusable'; readonly why: string };

/** OpenSSH skips what is behind its own form, and OpenSSL, which reads the others, what is around them. */
const own = /-----BEGIN OPENSSH PRIVATE KEY-----[\s\S]+?-----END OPENSSH PRIVATE KEY-----/;

export function readLoginKey(text: string, passphrase?: string): LoginKey {
  const [block] = own.exec(text) ?? [];
  if (block === undefined) return readPem(text, passphrase);
  const privateKey = `${block.replaceAll(/[\t\r ]+$/gm, '')}\n`;
  const parsed = ssh2.utils.parseKey(privateKey, passphrase);
  if (parsed instanceof Error) {
    return /encrypted|passphrase|integrity|decrypt/i.test(parsed.message)
      ? { kind: 'locked' }
      : { kind: 'unusable', why: parsed.message };
  }
  return { kind: 'usable', privateKey, ...(passphrase === undefined ? {} : { passphrase }) };
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
  const [, coded] = /-----BEGIN OPENSSH PRIVATE KEY-----([\s\S]+?)-----END/.exec(text) ?? [];
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

/** With OpenSSL, as OpenSSH does. ssh2 knows no PKCS #8, and of the others only files that hold nothing else. */
function readPem(text: string, passphrase: string | undefined): LoginKey {
  if (!text.includes('PRIVATE KEY-----')) return { kind: 'unusable', why: 'it holds no private key' };
  try {
    const key = createPrivateKey({ key: text, passphrase });
    const privateKey =
      key.asymmetricKeyType === 'ec'
        ? key.export({ type: 'sec1', format: 'pem' })
        : openSshPair(String(key.export({ type: 'pkcs8', format: 'pem' })), '').privateKey;
    return { kind: 'usable', privateKey: String(privateKey) };
  } catch (error) {
    if (/BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED/.test(text)) return { kind: 'locked' };
    return { kind: 'unusable', why: error instanceof Error ? error.message : String(error) };
  }
}
