/**
 * Values, comments and the MAC of the SOPS form. Values are encrypted with AES-256-GCM under the data key. The MAC is SHA-512
 * over the plaintext leaves in order.
 */

/** Time and random bytes for a writer. They are passed in, because shared code has no clock and no randomness of its own. */
export interface SopsMeans {
  readonly now: Date;
  random(bytes: number): Uint8Array;
}

export type Leaf = string | number | bigint | boolean;

export interface Opened {
  readonly leaf: string | number | boolean;
  /** The text that enters the hash. */
  readonly text: string;
  readonly isComment: boolean;
}

const utf8 = new TextEncoder();
// A secret may begin with U+FEFF. By default a decoder drops it as a byte order mark.
const fromUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const ivBytes = 32;
const tagBytes = 16;
const encrypted = /^ENC\[AES256_GCM,data:([^,]*),iv:([^,]+),tag:([^,]+),type:([a-z0-9]+)\]$/;
/** The SHA-256 of `sops`. The MAC begins with it if the file says `mac_only_encrypted`. */
const macOnlyEncryptedStart = '8a3fd2ad54ce66527b1034f3d147be0b0b975b3bf44f72c6fdadec8176f27d69';

export const isSealedComment = (value: unknown): boolean =>
  typeof value === 'string' && encrypted.exec(value)?.[4] === 'comment';
export const isSealed = (value: unknown): boolean => typeof value === 'string' && encrypted.test(value);

/** The additional data of each value is its path, without list indices. */
export const aadOf = (path: readonly string[]): string => `${path.join(':')}:`;

export const importKey = (bytes: Uint8Array) =>
  crypto.subtle.importKey('raw', new Uint8Array(bytes), 'AES-GCM', false, ['encrypt', 'decrypt']);
export type DataKey = Awaited<ReturnType<typeof importKey>>;

const algorithm = (iv: Uint8Array<ArrayBuffer>, additional: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: utf8.encode(additional),
  tagLength: tagBytes * 8,
});

export async function seal(key: DataKey, leaf: Leaf, additional: string, means: SopsMeans): Promise<string> {
  // sops leaves an empty text unencrypted.
  if (leaf === '') return '';
  const iv = new Uint8Array(means.random(ivBytes));
  const plain = utf8.encode(plaintextOf(leaf));
  const out = new Uint8Array(await crypto.subtle.encrypt(algorithm(iv, additional), key, plain));
  const [data, tag] = [out.subarray(0, -tagBytes), out.subarray(-tagBytes)];
  return `ENC[AES256_GCM,data:${toBase64(data)},iv:${toBase64(iv)},tag:${toBase64(tag)},type:${typeOf(leaf)}]`;
}

/** The decrypted `value`, or else what is wrong with it, as the end of a sentence. */
export async function open(key: DataKey, value: unknown, additional: string): Promise<Opened | string> {
  if (value === '') return { leaf: '', text: '', isComment: false };
  const match = typeof value === 'string' ? encrypted.exec(value) : null;
  if (match === null) return 'should be encrypted, but is not';
  const [, data = '', iv = '', tag = '', type = ''] = match;
  let text: string;
  try {
    const sealed = joined(fromBase64(data), fromBase64(tag));
    text = fromUtf8.decode(await crypto.subtle.decrypt(algorithm(fromBase64(iv), additional), key, sealed));
  } catch {
    return 'was tampered with: it does not decrypt in its place';
  }
  switch (type) {
    case 'str':
    case 'bytes':
    case 'time':
    case 'comment':
      return { leaf: text, text, isComment: type === 'comment' };
    case 'int':
    case 'int64':
    case 'float':
      return { leaf: Number(text), text, isComment: false };
    case 'bool':
      return { leaf: text === 'True', text, isComment: false };
    default:
      return `is of type ${type}, which plinth does not know`;
  }
}

/** A leaf as sops hashes and encrypts it: booleans in title case, numbers without an exponent. */
export function plaintextOf(leaf: Leaf): string {
  if (typeof leaf === 'boolean') return leaf ? 'True' : 'False';
  if (typeof leaf === 'string') return leaf;
  if (leaf === Infinity) return '+Inf';
  if (leaf === -Infinity) return '-Inf';
  const [digits = '', exponent] = String(leaf).split('e');
  if (exponent === undefined) return digits;
  const [sign, whole = '', fraction = ''] = digits.startsWith('-')
    ? ['-', ...digits.slice(1).split('.')]
    : ['', ...digits.split('.')];
  const point = whole.length + Number(exponent);
  const all = `${whole}${fraction}`;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${all}`;
  const padded = all.padEnd(point, '0');
  return `${sign}${padded.slice(0, point)}${padded.length > point ? `.${padded.slice(point)}` : ''}`;
}

function typeOf(leaf: Leaf): string {
  if (typeof leaf === 'string') return 'str';
  if (typeof leaf === 'boolean') return 'bool';
  return typeof leaf === 'bigint' || Number.isInteger(leaf) ? 'int' : 'float';
}

export async function macOf(leaves: readonly string[], onlyEncrypted = false): Promise<string> {
  const start = onlyEncrypted ? bytesOfHex(macOnlyEncryptedStart) : new Uint8Array();
  const all = joined(start, utf8.encode(leaves.join('')));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-512', all));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase();
}

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
/** A loop, because `Uint8Array.from` with a function takes ten times as long, and a file has many values. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

const bytesOfHex = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
