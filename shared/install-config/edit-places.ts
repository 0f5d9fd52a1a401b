/** Where the parts of a YAML text begin and end: of items, lines and their comments. Pure. */
import { type CST, isMap, isPair, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';

/** The bytes from `start` to `end` become `text`. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly ofAlias?: boolean;
}

export type Tree = { [key: string]: unknown };
export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Of values that JSON can hold. The order of keys does not count. */
export function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) {
    return Object.is(one, other);
  }
  const [entries, others] = [Object.entries(one), Object.entries(other)];
  return (
    Array.isArray(one) === Array.isArray(other) &&
    entries.length === others.length &&
    entries.every(([key, value]) => Object.hasOwn(other, key) && isSame(value, (other as Tree)[key]))
  );
}

export const keyOf = ({ key }: Pair<unknown, unknown>): string => (isScalar(key) ? String(key.value) : '');

/** Where a node or a pair ends. A list or map of lines ends with its last item, without the comments below it. */
export function endOf(item: unknown): number {
  if (isPair<Node, Node | null>(item)) return item.value === null ? endOf(item.key) : endOf(item.value);
  if ((isMap(item) || isSeq(item)) && !item.flow && item.items.length > 0) return endOf(item.items.at(-1));
  return (item as Node).range?.[1] ?? 0;
}

const opening = new Set(['explicit-key-ind', 'seq-item-ind', 'anchor', 'tag']);

/** The items of a collection as its text has them, in the order of its nodes. */
export function itemTokens(node: Node): CST.CollectionItem[] {
  const { items = [] } = (node as YAMLMap).srcToken as { items?: CST.CollectionItem[] };
  return items.filter(
    ({ start, key, sep, value }) =>
      key !== undefined || value !== undefined || sep !== undefined || start.some(({ type }) => opening.has(type)),
  );
}

/** Where an item begins, with its indicator, anchor and tag. */
export function startOf(node: Node, index: number): number {
  const item = itemTokens(node)[index];
  const first = item?.start.find(({ type }) => opening.has(type)) ?? item?.key ?? item?.sep?.[0] ?? item?.value;
  return first?.offset ?? 0;
}

/** A byte order mark is no part of the first line. */
export function lineStartOf(text: string, offset: number): number {
  const start = offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
  return text.startsWith('\ufeff', start) ? start + 1 : start;
}

export const columnAt = (text: string, offset: number): number => offset - lineStartOf(text, offset);

/** Where the line after an offset begins. A text in lines ends at the start of the next one. */
export function pastLine(text: string, offset: number): number {
  if (text[offset - 1] === '\n') return offset;
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end + 1;
}

/**
 * Where the line after an item begins. Comments that are indented more than the item belong to it: below a text in lines they
 * would become part of that text.
 */
export function pastItem(text: string, end: number, column: number): number {
  let past = pastLine(text, end);
  const comment = /(?:[ \t]*\r?\n)*( *)[ \t]*#[^\n]*(?:\n|$)/y;
  for (;;) {
    comment.lastIndex = past;
    const found = comment.exec(text);
    if (found === null || (found[1]?.length ?? 0) <= column) return past;
    past = comment.lastIndex;
  }
}
