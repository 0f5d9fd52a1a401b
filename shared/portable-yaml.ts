/**
 * YAML that readers of 1.1 and 1.2 read alike: how it is written, where a text is none, and what a text means whatever its
 * form. It never quotes a text, which may hold secrets.
 */
import {
  Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Range,
  Scalar,
  visit,
} from 'yaml';
import type { YamlFault } from './yaml-text.js';

/**
 * What `yaml` doesn't quote by itself: YAML 1.1 readers take these for a value, a merge, a number with commas or a line break.
 */
const misread = /^(?:=|<<|[-+]?\d[\d,_]*(?:\.[\d,_]*)?)$|[\u0085\u2028\u2029\ufeff]/;
/** These characters occur only in double quotes, where they may be escaped. */
const escaped = (text: string): string =>
  text.replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (found) => {
    return `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });

/** With `flow` it is one line, to stand within brackets. */
export function portableYaml(value: unknown, { flow = false } = {}): string {
  const document = new Document(value, { compat: 'yaml-1.1', aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, scalar) {
      if (typeof scalar.value === 'string' && misread.test(scalar.value)) scalar.type = Scalar.QUOTE_DOUBLE;
    },
    Collection(_, collection) {
      if (flow) collection.flow = true;
    },
  });
  const oneLine = flow ? { doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER } : {};
  return escaped(document.toString({ lineWidth: 0, ...oneLine }));
}

/** JSON is YAML, but for a few characters. */
export const portableJson = (value: unknown): string => escaped(JSON.stringify(value));

const core = 'tag:yaml.org,2002:';

/** By what a plain scalar looks like, from the types of YAML 1.1 (yaml.org/type) and the core schema of YAML 1.2.2. */
const differences: readonly (readonly [RegExp, string])[] = [
  [/^(?:y|n|yes|no|on|off)$/i, 'a word that YAML 1.1 takes for true or false, and YAML 1.2 for text'],
  [/^[-+]?0[0-9_]*[1-9_][0-9_]*$/, 'a number with a leading 0: octal in YAML 1.1, decimal in YAML 1.2'],
  [/^[-+]?0b[01_]+$/, 'a binary number of YAML 1.1, which is text in YAML 1.2'],
  [/^0o[0-7]+$/, 'an octal number of YAML 1.2, which is text in YAML 1.1'],
  [/^(?:[-+]0x[0-9a-f_]+|0x[0-9a-f_]*_[0-9a-f_]*)$/i, 'a hexadecimal number of YAML 1.1, which is text in YAML 1.2'],
  [/^[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?$/, 'a number to base 60 in YAML 1.1, and text in YAML 1.2'],
  [/^[-+]?(?=[\d_.]*_)\.?\d[\d_]*\.?[\d_]*(?:e[-+]?\d+)?$/i, 'a number with _ in YAML 1.1, and text in YAML 1.2'],
  [/^[-+]?(?:\d+e[-+]?|(?:\.\d+|\d+\.\d*)e)\d+$/i, 'a number with an exponent in YAML 1.2, which is text in YAML 1.1'],
  [
    /^\d{4}-\d\d?-\d\d?(?:(?:t|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:z|[-+]\d\d?(?::?\d\d)?))?)?$/i,
    'a date in YAML 1.1, and text in YAML 1.2',
  ],
  [/^(?:<<|=)$/, 'a key with a meaning in YAML 1.1, and text in YAML 1.2'],
];

function difference(scalar: Scalar): string | undefined {
  const { source = '', type, tag } = scalar;
  if (tag !== undefined && !/^tag:yaml\.org,2002:(?:str|int|float|bool|null)$/.test(tag)) return foreignTag;
  if (tag === `${core}str` || (tag === undefined && type !== Scalar.PLAIN)) return undefined;
  const found = differences.find(([form]) => form.test(source))?.[1];
  if (found !== undefined) return found;
  const isRounded = /^[-+]?\d{16,}$/.test(source) && BigInt(source) !== BigInt(Number(source));
  return isRounded ? 'a number that readers of JSON round' : undefined;
}

const foreignTag = 'a tag that not all readers know';
const breaks = /[\u0085\u2028\u2029]|\r(?!\n)/g;

/** Where readers of YAML 1.1 and 1.2 read different values, within the part of the text, or in all of it. */
export function differencesIn(
  text: string,
  nodes: readonly Node[],
  within: readonly (readonly [number, number])[] = [[0, text.length]],
): YamlFault[] {
  const found: { offset: number; why: string }[] = [];
  for (const node of nodes) {
    visit(node, {
      Node(_, each) {
        const why = isScalar(each)
          ? difference(each)
          : !isAlias(each) && each.tag !== undefined && !/^tag:yaml\.org,2002:(?:map|seq)$/.test(each.tag)
            ? foreignTag
            : undefined;
        if (why !== undefined) found.push({ offset: (each.range as Range)[0], why });
      },
    });
  }
  for (const [start, end] of within) {
    for (const { index } of text.slice(start, end).matchAll(breaks)) {
      found.push({ offset: start + index, why: 'a character that some readers take for the end of a line' });
    }
  }
  const lines = lineCounter(text);
  return found
    .toSorted((one, other) => one.offset - other.offset)
    .map(({ offset, why }) => {
      const { line, col } = lines.linePos(offset);
      return { line, column: col, why };
    });
}

function lineCounter(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (const { index } of text.matchAll(/\n/g)) lines.addNewLine(index + 1);
  return lines;
}

/** The same for two texts that every reader reads alike, whatever their comments, quotes, line ends and order of keys. */
export function meaningOf(node: unknown): string {
  if (isAlias(node)) return `*${node.source}`;
  if (!(isMap(node) || isSeq(node) || isScalar(node))) return 'null';
  const props = `${node.anchor === undefined ? '' : `&${node.anchor} `}${node.tag === undefined ? '' : `!${node.tag} `}`;
  if (isScalar(node)) {
    const isText = typeof node.value === 'string' && (node.type !== Scalar.PLAIN || difference(node) === undefined);
    return `${props}${isText ? JSON.stringify(node.value) : (node.source ?? String(node.value))}`;
  }
  const parts = node.items.map((item) =>
    isPair(item) ? `${meaningOf(item.key)}: ${meaningOf(item.value)}` : meaningOf(item),
  );
  return isMap(node) ? `${props}{${parts.toSorted().join(', ')}}` : `${props}[${parts.join(', ')}]`;
}
