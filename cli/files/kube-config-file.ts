/**
 * One kubeconfig as it is edited: its entries by name, read as kubectl reads them. Scalars are read as texts, so that an
 * untouched one is written as it was: 0644, 1.10, 9123456789012345678.
 */
import { isMap, isScalar, isSeq, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { Problem } from '../../shared/problems.js';
import { faultText, readYamlDocument } from '../../shared/yaml-text.js';

export interface KubeConfigFile {
  /** As the caller wrote it. */
  readonly path: string;
  /** Undefined if there is no such file. */
  readonly text: string | undefined;
}

const innerOf = { clusters: 'cluster', users: 'user', contexts: 'context' } as const;
export type EntryList = keyof typeof innerOf;
const lists = Object.keys(innerOf) as EntryList[];

export interface EditableConfig {
  readonly path: string;
  names(list: EntryList): readonly string[];
  /** A field of a named entry, as text. */
  field(list: EntryList, name: string, field: string): string | undefined;
  /** Sets fields of a named entry, and deletes others. Everything else of the entry stays. */
  put(list: EntryList, name: string, fields: Readonly<Record<string, string>>, deleted: readonly string[]): void;
  currentContext(): string;
  setCurrentContext(name: string): void;
  /** The new text. Undefined if nothing changed. */
  changed(): string | undefined;
}

/** Throws `bad-input` for what kubectl refuses, too. Nothing of the text is quoted but its kind. */
export function editKubeConfig({ path, text = '' }: KubeConfigFile): EditableConfig {
  const refuse = (why: string): never => {
    throw new Problem('bad-input', `${path} is not a kubeconfig that plinth can read: ${why}.`, {
      advice: 'Correct it, or name another file with --to.',
    });
  };
  const { document, errors } = readYamlDocument(text.replace(/^\uFEFF/, ''), { schema: 'failsafe' });
  const [fault] = errors;
  if (fault !== undefined) refuse(faultText(fault));
  let isChanged = false;
  if (isEmpty(document.contents)) document.contents = started() as unknown as typeof document.contents;
  const root = isMap(document.contents) ? (document.contents as YAMLMap) : refuse('it is not a mapping');
  refuseOther(root, refuse);
  const items = Object.fromEntries(lists.map((list) => [list, itemsOf(root, list, refuse)])) as Record<
    EntryList,
    Map<string, YAMLMap>
  >;

  function entry(list: EntryList, name: string): YAMLMap {
    const found = items[list].get(name);
    if (found !== undefined) return found;
    const made = new YAMLMap();
    made.set(new Scalar('name'), word(name));
    const sequence = root.get(list, true);
    if (isSeq(sequence)) sequence.items.push(made);
    else {
      const first = new YAMLSeq();
      first.items.push(made);
      root.set(sequence === undefined ? word(list) : list, first);
    }
    items[list].set(name, made);
    return made;
  }

  return {
    path,
    names: (list) => [...items[list].keys()],
    field(list, name, field) {
      const inner = items[list].get(name)?.get(innerOf[list], true);
      return isMap(inner) ? textOf(inner.get(field, true)) : undefined;
    },
    put(list, name, fields, deleted) {
      const item = entry(list, name);
      const standing = item.get(innerOf[list], true);
      const inner = isMap(standing) ? standing : new YAMLMap();
      if (!isMap(standing)) item.set(standing === undefined ? word(innerOf[list]) : innerOf[list], inner);
      for (const [field, value] of Object.entries(fields)) isChanged = set(inner, field, value) || isChanged;
      for (const field of deleted) isChanged = inner.delete(field) || isChanged;
    },
    currentContext: () => textOf(root.get('current-context', true)) ?? '',
    setCurrentContext(name) {
      isChanged = set(root, 'current-context', name) || isChanged;
    },
    changed: () => (isChanged ? document.toString({ lineWidth: 0, indentSeq: !isFlush(text) }) : undefined),
  };
}

function started(): YAMLMap {
  const map = new YAMLMap();
  map.set(word('apiVersion'), word('v1'));
  map.set(word('kind'), word('Config'));
  return map;
}

type Refuse = (why: string) => never;

/** kubectl takes a file without kind and version for a kubeconfig. */
function refuseOther(root: YAMLMap, refuse: Refuse): void {
  for (const [key, wanted] of [
    ['kind', 'Config'],
    ['apiVersion', 'v1'],
  ] as const) {
    const node = root.get(key, true);
    if (isEmpty(node) || textOf(node) === wanted) continue;
    const found = textOf(node) ?? '';
    refuse(`its ${key} is ${/^[\w./-]{1,60}$/.test(found) ? found : 'something else'}, not ${wanted}`);
  }
}

function itemsOf(root: YAMLMap, list: EntryList, refuse: Refuse): Map<string, YAMLMap> {
  const sequence = root.get(list, true);
  const named = new Map<string, YAMLMap>();
  if (isEmpty(sequence)) return named;
  if (!isSeq(sequence)) return refuse(`its ${list} are not a list`);
  for (const item of sequence.items) {
    const name = isMap(item) ? textOf(item.get('name', true)) : undefined;
    if (name === undefined || !isMap(item)) return refuse(`one of its ${list} has no name`);
    if (named.has(name)) return refuse(`two of its ${list} have the same name`);
    named.set(name, item);
  }
  return named;
}

const isEmpty = (node: unknown): boolean =>
  node === undefined ||
  node === null ||
  (isScalar(node) &&
    node.type !== 'QUOTE_DOUBLE' &&
    node.type !== 'QUOTE_SINGLE' &&
    /^(|~|null)$/i.test(String(node.value ?? '')));

const textOf = (node: unknown): string | undefined => (isScalar(node) ? String(node.value ?? '') : undefined);

/** True if that changes anything. */
function set(map: YAMLMap, field: string, value: string): boolean {
  const standing = map.get(field, true);
  if (textOf(standing) === value) return false;
  const node = word(value);
  // A comment behind the old value is the caller's.
  if (isScalar(standing)) Object.assign(node, { comment: standing.comment, commentBefore: standing.commentBefore });
  map.set(standing === undefined ? word(field) : field, node);
  return true;
}

/** YAML 1.1, which kubectl reads, takes texts such as `yes`, `0123` and `2026-01-02` for something else. */
function word(text: string): Scalar<string> {
  const scalar = new Scalar(text);
  const isPlain =
    /^[A-Za-z](?:[\w+/=.:-]*[\w+/=])?$/.test(text) && !/^(?:y|yes|n|no|on|off|true|false|null)$/i.test(text);
  scalar.type = isPlain ? 'PLAIN' : 'QUOTE_DOUBLE';
  return scalar;
}

/** Lists that begin where their key begins, as kubectl writes them. */
const isFlush = (text: string): boolean => text === '' || /^(?:clusters|contexts|users):[^\S\n]*\n-/m.test(text);
