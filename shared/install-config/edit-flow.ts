/** Adds items to a YAML collection within brackets, and takes some out. Comments between them stay. Pure. */
import { type CST, isMap, isSeq, type Node, Scalar, type YAMLMap } from 'yaml';
import { portableJson } from '../portable-yaml.js';
import { type Edit, endOf, itemTokens, startOf } from './edit-places.js';
import { flowText } from './edit-scalar.js';

interface Added {
  /** The item before it. Undefined: none stays before it. */
  readonly after: unknown;
  /** Maps of one key, or lists of one item. */
  readonly values: readonly object[];
}

export function* flowEdits(
  text: string,
  node: Node,
  gone: ReadonlySet<unknown>,
  added: readonly Added[],
): Generator<Edit> {
  const items = (node as YAMLMap).items as unknown[];
  const { items: all, start: open } = (node as YAMLMap).srcToken as CST.FlowCollection;
  const tokens = itemTokens(node);
  // A comma behind the last item has an entry of its own.
  const trailing = all.at(-1) === tokens.at(-1) ? undefined : all.at(-1);
  const commaOf = (item: CST.CollectionItem | undefined) => item?.start.find(({ type }) => type === 'comma');
  const last = items.findLastIndex((item) => !gone.has(item));
  for (const [index, item] of items.entries()) {
    if (!gone.has(item)) continue;
    const isBeforeOthers = index < last;
    const next = isBeforeOthers ? tokens[index + 1] : index === 0 ? trailing : undefined;
    const commas = { before: isBeforeOthers ? undefined : commaOf(tokens[index]), after: commaOf(next) };
    yield* without(text, startOf(node, index), endOf(item), commas);
  }
  for (const { after, values } of added) {
    const texts = values.map((value) => itemText(value, isJson(node))).join(', ');
    if (after !== undefined) yield { start: endOf(after), end: endOf(after), text: `, ${texts}` };
    else {
      const at = open.offset + 1;
      const isSpaced = /\s/.test(text[at] ?? '');
      yield { start: at, end: at, text: `${isSpaced ? ' ' : ''}${texts}${last === -1 ? '' : ', '}` };
    }
  }
}

function* without(
  text: string,
  start: number,
  end: number,
  { before, after }: { readonly before: CST.SourceToken | undefined; readonly after: CST.SourceToken | undefined },
): Generator<Edit> {
  if (before !== undefined && text.slice(before.offset + 1, start).trim() === '') {
    yield { start: before.offset, end, text: '' };
    return;
  }
  if (before !== undefined) yield { start: before.offset, end: before.offset + 1, text: '' };
  if (after !== undefined && text.slice(end, after.offset).trim() === '') {
    const [space = ''] = /^[ \t]*/.exec(text.slice(after.offset + 1)) ?? [];
    yield { start, end: after.offset + 1 + space.length, text: '' };
    return;
  }
  yield { start, end, text: '' };
  if (after !== undefined) yield { start: after.offset, end: after.offset + 1, text: '' };
}

/** A file that is JSON stays JSON. */
function isJson(node: Node): boolean {
  const isQuoted = (each: unknown) => (each as Scalar).type === Scalar.QUOTE_DOUBLE;
  if (isMap(node)) return node.items.every(({ key }) => isQuoted(key));
  return isSeq(node) && node.items.every(isQuoted);
}

function itemText(value: object, asJson: boolean): string {
  if (asJson) return portableJson(value).slice(1, -1);
  return Array.isArray(value) ? flowText(value[0]) : flowText(value).slice(1, -1).trim();
}
