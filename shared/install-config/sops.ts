/**
 * The SOPS YAML form with age recipients, which `sops` itself opens and edits. A rewrite keeps what a person did with sops:
 * recipients, rules, comments.
 */
import { Document, isMap, isScalar, isSeq, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { someIdentitiesIn } from './age-identity.js';
import {
  ageEntries,
  encryptionRule,
  nameOf,
  notFor,
  notForGo,
  parseSops,
  refuse,
  ruleName,
  type SopsFile,
  textAt,
  withoutRule,
} from './sops-block.js';
import {
  aadOf,
  type DataKey,
  importKey,
  isSealedComment,
  type Leaf,
  macOf,
  open,
  plaintextOf,
  type SopsMeans,
  seal,
} from './sops-cipher.js';

export { sopsRecipients } from './sops-block.js';

type SopsList = readonly SopsValue[];
type SopsValue = string | number | boolean | null | SopsList | SopsTree;
export type SopsTree = { readonly [key: string]: SopsValue | undefined };

/** Loaded on first use, because loading takes 95 ms. Recipients and schemas don't need it. */
const loadAge = () => import('age-encryption');

/** The version of sops that defines this form. */
const formVersion = '3.9.4';
const sops = 'sops';

export async function encryptSops(tree: SopsTree, recipients: readonly string[], means: SopsMeans): Promise<string> {
  const dataKey = means.random(32);
  const { armor, Encrypter } = await loadAge();
  const age = [];
  for (const recipient of recipients) {
    const encrypter = new Encrypter();
    encrypter.addRecipient(recipient);
    const enc = new Scalar(`${armor.encode(await encrypter.encrypt(dataKey)).trimEnd()}\n`);
    enc.type = Scalar.BLOCK_LITERAL;
    age.push({ recipient, enc });
  }
  const block = { age, lastmodified: '', mac: '', unencrypted_suffix: '_unencrypted', version: formVersion };
  const document = new Document({ [sops]: block });
  const root = document.contents as YAMLMap;
  const file: SopsFile = { document, root, block: root.get(sops) as YAMLMap };
  return writeTree(
    { file, key: await importKey(dataKey), isEncrypted: await encryptionRule(file), tree: {} },
    tree,
    means,
  );
}

/**
 * The plain tree, after its MAC was verified. `identity` may be the text of an identity file: each in it is tried. `Problem` bad-input says whether it is no SOPS file, is for another recipient,
 * or was changed by other means than sops. It never quotes a value.
 */
export const decryptSops = async (text: string, identity: string): Promise<{ readonly [key: string]: unknown }> =>
  (await openFile(text, identity)).tree;

/** The file with another tree. Unchanged parts stay byte for byte, and so do recipients, rules and comments. */
export async function rewriteSops(text: string, identity: string, tree: SopsTree, means: SopsMeans): Promise<string> {
  return writeTree(await openFile(text, identity), tree, means);
}

interface OpenFile {
  readonly file: SopsFile;
  readonly key: DataKey;
  readonly isEncrypted: (path: readonly string[]) => boolean;
  readonly tree: SopsTree;
}

async function openFile(text: string, identity: string): Promise<OpenFile> {
  const file = parseSops(text);
  const key = await importKey(await dataKeyOf(file, identity));
  const isEncrypted = await encryptionRule(file);
  const { tree, mac, manyLinesInClear } = await readTree({ file, key, isEncrypted });
  const sealed = await open(key, file.block.get('mac'), textAt(file.block, 'lastmodified') ?? '');
  if (typeof sealed === 'string') throw refuse(`the value at sops.mac ${sealed}`);
  if (sealed.text !== mac) {
    const changed = 'a value was changed, added, moved or removed by other means than sops';
    if (!manyLinesInClear)
      throw refuse(`its MAC does not match its values: ${changed}`, ...adviceOf(file, isEncrypted));
    throw refuse(
      `its MAC does not match its values: ${changed}, or sops itself wrote a text of several lines that it cannot read again, such as one that begins with a tab, as the file's own rule (${ruleName(file)}) leaves such texts in clear`,
      `Put back a copy that sops can open. ${withoutRule}`,
    );
  }
  return { file, key, isEncrypted, tree };
}

/** What a rule leaves in clear can be changed with any editor, but the MAC covers it. */
function adviceOf(file: SopsFile, isEncrypted: OpenFile['isEncrypted']): [advice?: string] {
  if (isEncrypted(['secrets', 'name'])) return [];
  return [
    `By its own rule (${ruleName(file)}) the names in it stand in clear. Change them back, and then with sops alone: sops edit <file>. Or put back a copy that sops can open.`,
  ];
}

async function dataKeyOf(file: SopsFile, identity: string): Promise<Uint8Array> {
  const identities = await someIdentitiesIn(identity);
  const { armor, Decrypter } = await loadAge();
  const decrypter = new Decrypter();
  for (const each of identities) decrypter.addIdentity(each.identity);
  for (const { enc } of ageEntries(file)) {
    try {
      const dataKey = await decrypter.decrypt(armor.decode(enc));
      if (dataKey.length === 32) return dataKey;
    } catch {
      // For another recipient. Try the next.
    }
  }
  throw notFor(identities.map(({ recipient }) => recipient));
}

/** What the file holds, and the MAC that it should have. */
async function readTree({
  file,
  key,
  isEncrypted,
}: Omit<OpenFile, 'tree'>): Promise<{ tree: SopsTree; mac: string; manyLinesInClear: boolean }> {
  let manyLinesInClear = false;
  const macOnlyEncrypted = file.block.get('mac_only_encrypted') === true;
  const leaves: string[] = [];
  const walk = async (node: unknown, path: readonly string[]): Promise<SopsValue | undefined> => {
    if (isMap(node)) {
      const entries: [string, unknown][] = [];
      for (const pair of node.items) {
        const name = nameOf(pair);
        if (node !== file.root || name !== sops) entries.push([name, await walk(pair.value, [...path, name])]);
      }
      return Object.fromEntries(entries) as SopsTree;
    }
    if (isSeq(node)) {
      const items: SopsValue[] = [];
      for (const item of node.items) {
        const value = await walk(item, path);
        if (value !== undefined) items.push(value);
      }
      return items;
    }
    const value = isScalar(node) ? (node.value as Leaf | null) : null;
    // sops writes null for a text that it could not write.
    if (!isEncrypted(path) && (value === null || String(value).includes('\n'))) manyLinesInClear = true;
    if (value === null) return null;
    if (!isEncrypted(path)) {
      if (!macOnlyEncrypted) leaves.push(plaintextOf(value));
      return typeof value === 'bigint' ? Number(value) : value;
    }
    const opened = await open(key, value, aadOf(path));
    if (typeof opened === 'string') throw refuse(`the value at ${path.join('.')} ${opened}`);
    // sops doesn't hash comments. In a list they are items.
    if (opened.isComment) return undefined;
    leaves.push(opened.text);
    return opened.leaf;
  };
  const tree = (await walk(file.root, [])) as SopsTree;
  return { tree, mac: await macOf(leaves, macOnlyEncrypted), manyLinesInClear };
}

async function writeTree(from: OpenFile, tree: SopsTree, means: SopsMeans): Promise<string> {
  if (sops in tree) throw new TypeError('a tree may not have a top-level key named sops');
  const { file, key } = from;
  await editMap({ ...from, means }, file.root, from.tree, tree, []);
  const { mac } = await readTree(from);
  // Quoted, so that no YAML reader takes it for a timestamp.
  const time = quoted(means.now.toISOString().replace(/\.\d+Z$/, 'Z'));
  file.block.set('lastmodified', time);
  file.block.set('mac', await seal(key, mac, String(time.value), means));
  return escaped(file.document.toString({ indent: 4, lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity }));
}

interface Edit extends OpenFile {
  readonly means: SopsMeans;
}

/** Edits a node that holds `from` so that it holds `to`. */
async function editNode(by: Edit, node: unknown, from: unknown, to: SopsValue, path: readonly string[]) {
  if (node !== undefined && JSON.stringify(from) === JSON.stringify(to)) return node;
  if (isList(to)) {
    const list = isSeq(node) ? node : new YAMLSeq();
    await editList(by, list, isList(from) ? from : [], to, path);
    return list;
  }
  if (isTree(to)) {
    const map = isMap(node) ? node : new YAMLMap();
    await editMap(by, map, isTree(from) ? from : {}, to, path);
    return map;
  }
  const scalar =
    to !== null && by.isEncrypted(path)
      ? new Scalar(await seal(by.key, to, aadOf(path), by.means))
      : typeof to === 'string'
        ? quoted(to)
        : new Scalar(to);
  if (isScalar(node)) Object.assign(scalar, { comment: node.comment, commentBefore: node.commentBefore });
  return scalar;
}

async function editMap(by: Edit, map: YAMLMap, from: SopsTree, to: SopsTree, path: readonly string[]): Promise<void> {
  const isBlock = (pair: Pair) => map === by.file.root && nameOf(pair) === sops;
  map.items = map.items.filter((pair) => isBlock(pair) || to[nameOf(pair)] !== undefined);
  for (const [name, value] of Object.entries(to)) {
    if (value === undefined) continue;
    const stands = map.items.find((pair) => nameOf(pair) === name);
    const node = await editNode(by, stands?.value, from[name], value, [...path, name]);
    if (stands !== undefined) stands.value = node;
    else {
      const end = map.items.findIndex(isBlock);
      map.items.splice(end === -1 ? map.items.length : end, 0, new Pair(by.file.document.createNode(name), node));
    }
  }
}

/** Items match by name if all have one, else by position. Comments come before their item, as sops places them. */
async function editList(by: Edit, list: YAMLSeq, from: SopsList, to: SopsList, path: readonly string[]): Promise<void> {
  const named = [...from, ...to].every((item) => isTree(item) && typeof item['name'] === 'string');
  const idOf = (item: SopsValue | undefined, place: number) => (named && isTree(item) ? item['name'] : place);
  const stands = new Map<unknown, { comments: unknown[]; node: unknown; item: SopsValue | undefined }>();
  let comments: unknown[] = [];
  let place = 0;
  for (const node of list.items) {
    if (by.isEncrypted(path) && isScalar(node) && isSealedComment(node.value)) {
      comments.push(node);
      continue;
    }
    stands.set(idOf(from[place], place), { comments, node, item: from[place] });
    comments = [];
    place += 1;
  }
  const items: unknown[] = [];
  for (const [index, item] of to.entries()) {
    const before = stands.get(idOf(item, index));
    items.push(...(before?.comments ?? []), await editNode(by, before?.node, before?.item, item, path));
  }
  list.items = [...items, ...comments];
}

const isList = (value: unknown): value is SopsList => Array.isArray(value);
const isTree = (value: unknown): value is SopsTree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function quoted(text: string): Scalar {
  const scalar = new Scalar(text);
  scalar.type = Scalar.QUOTE_DOUBLE;
  return scalar;
}

/** These characters occur only in double quotes or in a comment. */
const escaped = (text: string): string =>
  text.replace(notForGo, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
