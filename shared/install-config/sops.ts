/**
 * The SOPS YAML form with age recipients: what `sops` itself opens and edits. Written and read by the steps that make the
 * secrets file, read by the CLI. Each value is AES-256-GCM under a data key, with its path (list indices left out) as
 * additional data; the MAC is SHA-512 over the plaintext leaves in order, under `lastmodified`.
 * Comments of a file that a person edited are not kept.
 */
import { Document, parse, Scalar } from 'yaml';
import { Problem } from '../problems.js';
import { matchingNames } from './matching-names.js';

/** What a writer needs of the world, passed in: shared code has no clock and no dice. */
export interface SopsMeans {
  readonly now: Date;
  random(bytes: number): Uint8Array;
}

type Leaf = string | number | boolean;
type SopsValue = Leaf | null | readonly SopsValue[] | { readonly [key: string]: SopsValue | undefined };
export type SopsTree = { readonly [key: string]: SopsValue | undefined };

/** Loaded on first use: it takes 95 ms, and who only names recipients or schemas needs none of it. */
const loadAge = () => import('age-encryption');

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder('utf-8', { fatal: true });
/** The version of sops whose form this is. */
const formVersion = '3.9.4';
const ivBytes = 32;
const tagBytes = 16;
const encrypted = /^ENC\[AES256_GCM,data:([^,]*),iv:([^,]+),tag:([^,]+),type:([a-z0-9]+)\]$/;
/** sha256 of `sops`: what the MAC begins with where a file says `mac_only_encrypted`. */
const macOnlyEncryptedStart = '8a3fd2ad54ce66527b1034f3d147be0b0b975b3bf44f72c6fdadec8176f27d69';

export async function encryptSops(tree: SopsTree, recipients: readonly string[], means: SopsMeans): Promise<string> {
  if ('sops' in tree) throw new TypeError('a tree may not have a top-level key named sops');
  const dataKey = means.random(32);
  const key = await importKey(dataKey);
  const leaves: string[] = [];
  const walk = async (value: SopsValue, path: readonly string[]): Promise<unknown> => {
    if (value === null) return null;
    if (typeof value !== 'object') {
      leaves.push(plaintextOf(value));
      return seal(key, value, aadOf(path), means);
    }
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value as readonly SopsValue[]) items.push(await walk(item, path));
      return items;
    }
    const map = new Map<string, unknown>();
    for (const [name, child] of Object.entries(value as SopsTree)) {
      if (child !== undefined) map.set(name, await walk(child, [...path, name]));
    }
    return map;
  };
  const body = (await walk(tree, [])) as Map<string, unknown>;

  const lastModified = means.now.toISOString().replace(/\.\d+Z$/, 'Z');
  const { armor, Encrypter } = await loadAge();
  const age = [];
  for (const recipient of recipients) {
    const encrypter = new Encrypter();
    encrypter.addRecipient(recipient);
    const enc = new Scalar(`${armor.encode(await encrypter.encrypt(dataKey)).trimEnd()}\n`);
    enc.type = Scalar.BLOCK_LITERAL;
    age.push(
      new Map<string, unknown>([
        ['recipient', recipient],
        ['enc', enc],
      ]),
    );
  }
  // Quoted, so that no YAML reader takes it for a time.
  const quoted = new Scalar(lastModified);
  quoted.type = Scalar.QUOTE_DOUBLE;
  body.set(
    'sops',
    new Map<string, unknown>([
      ['age', age],
      ['lastmodified', quoted],
      ['mac', await seal(key, await macOf(leaves), lastModified, means)],
      ['unencrypted_suffix', '_unencrypted'],
      ['version', formVersion],
    ]),
  );
  return new Document(body).toString({ indent: 4, lineWidth: 0 });
}

/**
 * The plain tree, its MAC verified. `Problem` bad-input says which of these it is: no SOPS file, another's recipient,
 * or changed by other means than sops. Never quotes a value.
 */
export async function decryptSops(text: string, identity: string): Promise<{ readonly [key: string]: unknown }> {
  const root = parseYaml(text);
  const sops = root.get('sops');
  if (!(sops instanceof Map)) throw refuse('it has no `sops` block, so it is not an encrypted file');
  const key = await importKey(await dataKeyOf(sops, identity));
  root.delete('sops');
  const isEncrypted = encryptionRule(sops, root);
  const macOnlyEncrypted = sops.get('mac_only_encrypted') === true;

  const leaves: string[] = [];
  const walk = async (value: unknown, path: readonly string[]): Promise<unknown> => {
    if (value instanceof Map) {
      const entries: [string, unknown][] = [];
      for (const [name, child] of value) entries.push([String(name), await walk(child, [...path, String(name)])]);
      return Object.fromEntries(entries);
    }
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) items.push(await walk(item, path));
      return items;
    }
    if (value === null) return null;
    const sealed = isEncrypted(path);
    if (!sealed) {
      if (!macOnlyEncrypted) leaves.push(plaintextOf(value as Leaf));
      return value;
    }
    const opened = await open(key, value, aadOf(path), path);
    leaves.push(opened.text);
    return opened.leaf;
  };
  const tree = (await walk(root, [])) as { [key: string]: unknown };

  const lastModified = sops.get('lastmodified');
  const time = typeof lastModified === 'string' ? lastModified : '';
  const mac = await open(key, sops.get('mac'), time, ['sops', 'mac']);
  if (mac.text !== (await macOf(leaves, macOnlyEncrypted))) {
    throw refuse(
      'its MAC does not match its values: a value was changed, added, moved or removed by other means than sops',
    );
  }
  return tree;
}

/** The age recipients that a SOPS file names; they are no secret. */
export function sopsRecipients(text: string): string[] {
  const sops = parseYaml(text).get('sops');
  return sops instanceof Map ? ageEntries(sops).map(({ recipient }) => recipient) : [];
}

function parseYaml(text: string): Map<unknown, unknown> {
  let root: unknown;
  try {
    // mapAsMap: the MAC depends on the order of keys, which objects don't keep for names like `1`.
    root = parse(text, { mapAsMap: true, prettyErrors: false, maxAliasCount: 0 });
  } catch {
    // The parser's own message may quote a value.
    throw refuse('it is not YAML');
  }
  if (!(root instanceof Map)) throw refuse('it is not a YAML map');
  return root;
}

function ageEntries(sops: Map<unknown, unknown>): { recipient: string; enc: string }[] {
  const entries = sops.get('age');
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown) => {
    const recipient = entry instanceof Map ? entry.get('recipient') : undefined;
    const enc = entry instanceof Map ? entry.get('enc') : undefined;
    return typeof recipient === 'string' && typeof enc === 'string' ? [{ recipient, enc }] : [];
  });
}

async function dataKeyOf(sops: Map<unknown, unknown>, identity: string): Promise<Uint8Array> {
  if (sops.has('key_groups')) throw refuse('it is encrypted to key groups, which plinth cannot open');
  const { armor, Decrypter } = await loadAge();
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  for (const { enc } of ageEntries(sops)) {
    try {
      const dataKey = await decrypter.decrypt(armor.decode(enc));
      if (dataKey.length === 32) return dataKey;
    } catch {
      // Meant for another recipient: try the next.
    }
  }
  throw refuse("it is not encrypted for this bootstrap's age identity");
}

/** Which paths hold encrypted values, as the file's own rule says. sops allows one rule a file. */
function encryptionRule(
  sops: Map<unknown, unknown>,
  root: Map<unknown, unknown>,
): (path: readonly string[]) => boolean {
  const text = (name: string) => {
    const value = sops.get(name);
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const matching = (source: string) => {
    try {
      return matchingNames(source, namesIn(root));
    } catch {
      throw refuse('its rule for what is encrypted is not a regular expression that plinth can read, and soon');
    }
  };
  if (text('encrypted_comment_regex') ?? text('unencrypted_comment_regex')) {
    throw refuse('it says by comments what is encrypted, which plinth cannot read');
  }
  const [encryptedSuffix, encryptedRegex, unencryptedRegex] = [
    text('encrypted_suffix'),
    text('encrypted_regex'),
    text('unencrypted_regex'),
  ];
  if (encryptedSuffix !== undefined) return (path) => path.some((name) => name.endsWith(encryptedSuffix));
  if (encryptedRegex !== undefined) {
    const names = matching(encryptedRegex);
    return (path) => path.some((name) => names.has(name));
  }
  if (unencryptedRegex !== undefined) {
    const names = matching(unencryptedRegex);
    return (path) => !path.some((name) => names.has(name));
  }
  const suffix = text('unencrypted_suffix') ?? '_unencrypted';
  return (path) => !path.some((name) => name.endsWith(suffix));
}

/** All names of fields, at any depth. */
function namesIn(value: unknown, names = new Set<string>()): Set<string> {
  if (value instanceof Map) for (const name of value.keys()) names.add(String(name));
  if (value instanceof Map || Array.isArray(value)) for (const child of value.values()) namesIn(child, names);
  return names;
}

const aadOf = (path: readonly string[]): string => `${path.join(':')}:`;

/** A leaf as sops hashes and encrypts it: booleans in title case, numbers without an exponent. */
function plaintextOf(leaf: Leaf): string {
  if (typeof leaf === 'boolean') return leaf ? 'True' : 'False';
  if (typeof leaf === 'string') return leaf;
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

const typeOf = (leaf: Leaf): string =>
  typeof leaf === 'string' ? 'str' : typeof leaf === 'boolean' ? 'bool' : Number.isInteger(leaf) ? 'int' : 'float';

async function macOf(leaves: readonly string[], onlyEncrypted = false): Promise<string> {
  const start = onlyEncrypted ? bytesOfHex(macOnlyEncryptedStart) : new Uint8Array();
  const rest = utf8.encode(leaves.join(''));
  const all = new Uint8Array(start.length + rest.length);
  all.set(start);
  all.set(rest, start.length);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-512', all));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase();
}

const importKey = (bytes: Uint8Array) =>
  crypto.subtle.importKey('raw', new Uint8Array(bytes), 'AES-GCM', false, ['encrypt', 'decrypt']);
type Key = Awaited<ReturnType<typeof importKey>>;

async function seal(key: Key, leaf: Leaf, additional: string, means: SopsMeans): Promise<string> {
  // sops leaves an empty text as it is.
  if (leaf === '') return '';
  const iv = new Uint8Array(means.random(ivBytes));
  const algorithm = { name: 'AES-GCM', iv, additionalData: utf8.encode(additional), tagLength: tagBytes * 8 };
  const out = new Uint8Array(await crypto.subtle.encrypt(algorithm, key, utf8.encode(plaintextOf(leaf))));
  const [data, tag] = [out.subarray(0, -tagBytes), out.subarray(-tagBytes)];
  return `ENC[AES256_GCM,data:${toBase64(data)},iv:${toBase64(iv)},tag:${toBase64(tag)},type:${typeOf(leaf)}]`;
}

async function open(
  key: Key,
  value: unknown,
  additional: string,
  path: readonly string[],
): Promise<{ readonly leaf: Leaf; readonly text: string }> {
  if (value === '') return { leaf: '', text: '' };
  const match = typeof value === 'string' ? encrypted.exec(value) : null;
  const [, data = '', iv = '', tag = '', type = ''] = match ?? [];
  if (match === null) throw refuse(`the value at ${path.join('.')} should be encrypted, but is not`);
  let text: string;
  try {
    const sealed = new Uint8Array([...fromBase64(data), ...fromBase64(tag)]);
    const algorithm = {
      name: 'AES-GCM',
      iv: fromBase64(iv),
      additionalData: utf8.encode(additional),
      tagLength: tagBytes * 8,
    };
    text = fromUtf8.decode(await crypto.subtle.decrypt(algorithm, key, sealed));
  } catch {
    throw refuse(`the value at ${path.join('.')} was tampered with: it does not decrypt in its place`);
  }
  switch (type) {
    case 'str':
    case 'bytes':
    case 'time':
      return { leaf: text, text };
    case 'int':
    case 'int64':
    case 'float':
      return { leaf: Number(text), text };
    case 'bool':
      return { leaf: text === 'True', text };
    default:
      throw refuse(`the value at ${path.join('.')} is of type ${type}, which plinth does not know`);
  }
}

function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
const fromBase64 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const bytesOfHex = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));

const refuse = (reason: string) =>
  new Problem('bad-input', `The secrets file cannot be read: ${reason}.`, {
    advice:
      'Put back a copy that sops can open, or move the file aside: it is then written again from what the bootstrap holds.',
  });
