/**
 * Edits the text of a config so that it means other values. Only the bytes of what changes are replaced, so comments, quotes,
 * order, line ends and every `override` stay as a person wrote them. Pure.
 */
import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, visit, type YAMLMap } from 'yaml';
import { portableYaml } from '../portable-yaml.js';
import { readYamlDocument } from '../yaml-text.js';
import { flowEdits } from './edit-flow.js';
import {
  columnAt,
  type Edit,
  endOf,
  isSame,
  isTree,
  keyOf,
  lineStartOf,
  pastItem,
  pastLine,
  startOf,
  type Tree,
} from './edit-places.js';
import { flowText, scalarEdits } from './edit-scalar.js';
import { isOverride, withoutOverrides } from './overrides.js';

/** Undefined if a text of this form cannot be edited. */
export function editYaml(text: string, wanted: Tree): string | undefined {
  const goal = withoutOverrides(wanted) as Tree;
  let edited = text;
  // An alias means something else once its anchor is edited, so that another round is needed.
  for (let round = 0; round < mostRounds; round += 1) {
    const { document, errors } = readYamlDocument(edited, { keepSourceTokens: true });
    if (errors.length > 0 || !isMap(document.contents)) return undefined;
    const standing = withoutOverrides(document.toJS());
    if (!isTree(standing)) return undefined;
    if (isSame(standing, goal)) return edited;
    const at = { text: edited, eol: /\r?\n/.exec(edited)?.[0] ?? '\n' };
    const all = [...mapEdits(at, document.contents, standing, goal)];
    const others = all.filter(({ ofAlias }) => ofAlias !== true);
    // An alias may mean what is wanted once its anchor is edited.
    const edits = others.length > 0 ? others : all;
    edits.push(...lostAliases(document, edits));
    const next = apply(edited, edits);
    if (next === undefined || next === edited) return undefined;
    edited = next;
  }
  return undefined;
}

const mostRounds = 8;

interface Place {
  readonly text: string;
  /** How lines end in the text. */
  readonly eol: string;
}

const isCollection = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

function* mapEdits(at: Place, map: YAMLMap, standing: Tree, wanted: Tree): Generator<Edit> {
  const pairs = map.items as Pair<Node, Node | null>[];
  const gone = new Set<unknown>();
  for (const pair of pairs) {
    const key = keyOf(pair);
    if (isOverride(pair)) continue;
    if (!Object.hasOwn(wanted, key)) gone.add(pair);
    else yield* valueEdits(at, pair, standing[key], wanted[key], map.flow === true);
  }
  const added = new Map<Pair<Node, Node | null> | undefined, string[]>();
  let last: Pair<Node, Node | null> | undefined;
  for (const key of Object.keys(wanted)) {
    const pair = pairs.find((each) => keyOf(each) === key);
    if (pair !== undefined) last = pair;
    else {
      // A comment above the first key may be meant for it, so nothing goes in between.
      const after = last ?? pairs.findLast((each) => !gone.has(each));
      added.set(after, [...(added.get(after) ?? []), key]);
    }
  }
  const texts = [...added].map(([after, keys]) => ({ after, values: keys.map((key) => ({ [key]: wanted[key] })) }));
  yield* map.flow ? flowEdits(at.text, map, gone, texts) : blockEdits(at, map, gone, texts);
}

/** Items of a map as maps of one key, and items of a list as lists of one item. */
interface Added {
  readonly after: unknown;
  readonly values: readonly object[];
}

function* blockEdits(at: Place, node: Node, gone: ReadonlySet<unknown>, added: readonly Added[]): Generator<Edit> {
  const { text } = at;
  const items = (node as YAMLMap).items as unknown[];
  const column = columnAt(text, startOf(node, 0));
  for (const [index, item] of items.entries()) {
    if (!gone.has(item)) continue;
    const start = lineStartOf(text, startOf(node, index));
    yield { start, end: pastItem(text, endOf(item), column), text: '' };
  }
  for (const { after, values } of added) {
    const lines = values.map((value) => indented(at, portableYaml(value), column)).join('');
    const start = after === undefined ? lineStartOf(text, startOf(node, 0)) : pastItem(text, endOf(after), column);
    yield insertion(at, start, lines);
  }
}

/** Whole lines, at the start of one or at the end of a text without a last line end. */
function insertion({ text, eol }: Place, start: number, lines: string): Edit {
  const isOpen = start === text.length && start > 0 && text[start - 1] !== '\n';
  return { start, end: start, text: isOpen ? `${eol}${lines.slice(0, -eol.length)}` : lines };
}

const indented = ({ eol }: Place, lines: string, column: number): string =>
  lines.replaceAll(/^(?=[^\n])/gm, ' '.repeat(column)).replaceAll('\n', eol);

function* listEdits(at: Place, list: Node, standing: readonly unknown[], wanted: readonly unknown[]): Generator<Edit> {
  if (!isSeq(list)) return;
  const items = list.items as Node[];
  const kept = commonItems(standing, wanted);
  const gone = new Set<unknown>(items.filter((_, index) => !kept.some(([from]) => from === index)));
  const added = new Map<unknown, object[]>();
  let last: unknown;
  for (const [index, value] of wanted.entries()) {
    const stays = kept.find(([, to]) => to === index);
    if (stays !== undefined) last = items[stays[0]];
    else added.set(last, [...(added.get(last) ?? []), [value]]);
  }
  const texts = [...added].map(([after, values]) => ({ after, values }));
  yield* list.flow ? flowEdits(at.text, list, gone, texts) : blockEdits(at, list, gone, texts);
}

/** The longest common subsequence, as pairs of positions. */
function commonItems(from: readonly unknown[], to: readonly unknown[]): [number, number][] {
  const lengths = Array.from({ length: from.length + 1 }, () => new Array<number>(to.length + 1).fill(0));
  const lengthAt = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = from.length - 1; i >= 0; i -= 1) {
    for (let j = to.length - 1; j >= 0; j -= 1) {
      const isShared = isSame(from[i], to[j]);
      (lengths[i] as number[])[j] = isShared
        ? lengthAt(i + 1, j + 1) + 1
        : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
    }
  }
  const common: [number, number][] = [];
  for (let i = 0, j = 0; i < from.length && j < to.length; ) {
    if (isSame(from[i], to[j])) common.push([i++, j++]);
    else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) i += 1;
    else j += 1;
  }
  return common;
}

function* valueEdits(
  at: Place,
  pair: Pair<Node, Node | null>,
  from: unknown,
  to: unknown,
  inFlow: boolean,
): Generator<Edit> {
  const node = pair.value;
  if (isSame(from, to) || node === null) return;
  const isFilled = isCollection(to) && isCollection(from) && !isEmpty(from);
  if (isMap(node) && isFilled && isTree(from) && isTree(to) && (!isEmpty(to) || node.items.some(isOverride))) {
    yield* mapEdits(at, node, from, to);
  } else if (isSeq(node) && isFilled && Array.isArray(from) && Array.isArray(to) && !isEmpty(to)) {
    const [old, other] = [from as unknown[], to as unknown[]];
    const isPairwise = old.length === other.length && node.items.every((item) => isMap(item)) && other.every(isTree);
    if (!isPairwise) yield* listEdits(at, node, old, other);
    else
      for (const [index, item] of node.items.entries())
        yield* mapEdits(at, item as YAMLMap, old[index] as Tree, other[index] as Tree);
  } else if (isScalar(node) && !isCollection(to)) {
    yield* scalarEdits(at, node, to, { sep: pair.srcToken?.sep, inFlow });
  } else if (isAlias(node) || inFlow) {
    yield { start: node.range?.[0] ?? 0, end: endOf(node), text: flowText(to), ofAlias: isAlias(node) };
  } else yield* replacement(at, pair, node, to);
}

/** A value of another kind, in a map of lines. A comment on the line of the key stays. */
function* replacement(at: Place, pair: Pair<Node, Node | null>, node: Node, to: unknown): Generator<Edit> {
  const { text } = at;
  const sep = pair.srcToken?.sep ?? [];
  const colon = sep.find(({ type }) => type === 'map-value-ind');
  if (colon === undefined) return;
  const isBlock = isCollection(to) && !isEmpty(to);
  const head = isBlock ? '' : ` ${flowText(to)}`;
  const afterColon = colon.offset + 1;
  const [start, end] = [node.range?.[0] ?? 0, endOf(node)];
  if (!text.slice(afterColon, start).includes('\n')) yield { start: afterColon, end, text: head };
  else {
    yield { start: afterColon, end: afterColon, text: head };
    for (const { type, offset, source } of sep) {
      if (type === 'anchor' || type === 'tag') yield { start: offset, end: offset + source.length, text: '' };
    }
    if (isScalar(node) || (node as YAMLMap).flow) yield withoutBlankLine(text, start, end);
    else yield* blockEdits(at, node, new Set((node as YAMLMap).items), []);
  }
  if (!isBlock) return;
  const column = columnAt(text, pair.key.range?.[0] ?? 0);
  const [, ...lines] = portableYaml({ key: to }).split('\n');
  const lineEnd = pastLine(text, end);
  yield insertion(at, lineEnd, indented(at, lines.join('\n'), column));
}

function withoutBlankLine(text: string, start: number, end: number): Edit {
  const [from, to] = [lineStartOf(text, start), pastLine(text, end)];
  const isAlone = text.slice(from, start).trim() === '' && text.slice(end, to).trim() === '';
  return isAlone ? { start: from, end: to, text: '' } : { start, end, text: '' };
}

/** Aliases whose anchor goes, with the value that they had. An anchor in front of a replaced value stays. */
function lostAliases(document: ReturnType<typeof readYamlDocument>['document'], edits: readonly Edit[]): Edit[] {
  const lost: Edit[] = [];
  visit(document, {
    Alias(_, alias) {
      const anchor = alias.resolve(document);
      const [start, end] = [alias.range?.[0] ?? 0, endOf(alias)];
      const [from, to] = [anchor?.range?.[0] ?? 0, anchor?.range?.[1] ?? 0];
      const isLost = edits.some((edit) => edit.start < from && to <= edit.end);
      if (anchor === undefined || !isLost || edits.some((edit) => edit.start <= start && end <= edit.end)) return;
      lost.push({ start, end, text: flowText(anchor.toJS(document)) });
    },
  });
  return lost;
}

/** Undefined if edits overlap. */
function apply(text: string, edits: readonly Edit[]): string | undefined {
  const sorted = edits.toSorted((one, other) => one.start - other.start || one.end - other.end);
  const parts: string[] = [];
  let done = 0;
  for (const { start, end, text: replacing } of sorted) {
    if (start < done) return undefined;
    parts.push(text.slice(done, start), replacing);
    done = end;
  }
  return [...parts, text.slice(done)].join('');
}
