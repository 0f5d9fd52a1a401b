/** An edit of a config in any YAML that a person may write: what is wanted is read back, and nothing else has changed. */
import { expect } from 'chai';
import fc from 'fast-check';
import { CORE_SCHEMA, load } from 'js-yaml';
import { isScalar, parse, parseDocument } from 'yaml';
import { editYaml } from '../../shared/install-config/edit.js';
import { createRandom, type Random } from '../organizations/random.js';
import { bySeed, searchFor } from '../support/search.js';

type Tree = { [key: string]: unknown };
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

const keys = ['a', 'b', 'key of words', 'yes', '12', 'c-d', 'e.f', 'Z', 'é', 'null'];
const words = [
  'x',
  'two words',
  '10.10.0.2',
  'yes',
  '0644',
  'a: b',
  '# no',
  "it's",
  '"',
  '',
  ' ',
  '- a',
  '\u2028',
  '1e3',
];
const pem = '-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n';

const scalarOf = ({ pick, below, maybe }: Random): unknown =>
  pick([() => pick(words), () => pick(words), () => below(5000), () => maybe(0.5), () => pem])();

function anyValue(random: Random, depth: number): unknown {
  const { maybe, below } = random;
  if (depth > 0 && maybe(0.4)) return treeOf(random, depth - 1, 0);
  if (maybe(0.2)) return Array.from({ length: below(4) }, () => scalarOf(random));
  if (depth > 0 && maybe(0.1)) return Array.from({ length: 1 + below(2) }, () => ({ ip: scalarOf(random), n: 1 }));
  return scalarOf(random);
}

function treeOf(random: Random, depth: number, fewest: number): Tree {
  const tree: Tree = {};
  const count = fewest + random.below(4);
  while (Object.keys(tree).length < count) tree[random.pick(keys)] = anyValue(random, depth);
  return tree;
}

/** What stands in the text beside the values, and where: it goes only with its place. */
interface Beside {
  readonly text: string;
  readonly place: readonly string[];
}

interface Written {
  readonly lines: string[];
  readonly comments: Beside[];
  readonly overrides: Beside[];
}

const quoted = (value: string): string =>
  JSON.stringify(value).replaceAll(/[\u2028\u2029]/g, (found) => `\\u${found.charCodeAt(0).toString(16)}`);

function scalarText({ pick }: Random, value: unknown): string {
  if (typeof value === 'number') return pick([String(value), `0x${value.toString(16)}`]);
  if (typeof value !== 'string') return pick([String(value), String(value).toUpperCase()]);
  const forms = [quoted(value)];
  if (!/[\n\u2028]/.test(value)) forms.push(`'${value.replaceAll("'", "''")}'`);
  if (/^(?:x|two words|yes|10\..*)$/.test(value)) forms.push(value);
  return pick(forms);
}

function flowOf(random: Random, value: unknown): string {
  const gap = random.pick(['', ' ', '  ']);
  const last = random.pick(['', gap, ` ,${gap}`]);
  if (Array.isArray(value)) {
    return value.length === 0
      ? `[${gap}]`
      : `[${gap}${value.map((each) => flowOf(random, each)).join(`${gap}, `)}${last}]`;
  }
  if (!isTree(value)) return scalarText(random, value);
  const pairs = Object.entries(value).map(([key, each]) => `${quoted(key)}: ${flowOf(random, each)}`);
  return pairs.length === 0 ? `{${gap}}` : `{${gap}${pairs.join(`,${gap}`)}${last}}`;
}

function writeMap(random: Random, tree: Tree, column: number, place: readonly string[], written: Written): void {
  const { maybe, pick, below } = random;
  const { lines, comments, overrides } = written;
  const before = ' '.repeat(column);
  const comment = (where: readonly string[]): string => {
    const text = `# comment ${comments.length} of '"{[:`;
    comments.push({ text, place: where });
    return text;
  };
  const entries = Object.entries(tree);
  const at = maybe(0.3) ? below(entries.length + 1) : -1;
  for (const [index, [key, value]] of [...entries, ['', undefined] as const].entries()) {
    if (index === at) {
      const raw = `override:${pick(overrideForms)(before, overrides.length)}`;
      overrides.push({ text: raw, place });
      lines.push(`${before}${raw}`);
    }
    if (value === undefined) return;
    const here = [...place, key];
    if (maybe(0.2)) lines.push('');
    if (maybe(0.2)) lines.push(`${before}${comment(place)}`);
    const behind = () => (maybe(0.2) ? `${pick([' ', '   '])}${comment(here)}` : '');
    const head = `${before}${/^[a-z]+$/.test(key) && key !== 'yes' && key !== 'null' ? key : quoted(key)}${pick(['', '', ' '])}:`;
    const isBlock = maybe(0.75);
    if (isTree(value) && Object.keys(value).length > 0 && isBlock) {
      lines.push(`${head}${behind()}`);
      const inner = column + 1 + below(4);
      writeMap(random, value, inner, here, written);
      if (maybe(0.1)) lines.push(`${' '.repeat(inner)}${comment(here)}`);
    } else if (Array.isArray(value) && value.length > 0 && isBlock) {
      lines.push(`${head}${behind()}`);
      const dash = ' '.repeat(column + below(3));
      for (const item of value) lines.push(`${dash}-${pick([' ', '   '])}${flowOf(random, item)}`);
    } else if (value === pem && isBlock) {
      const inner = ' '.repeat(column + 1 + below(6));
      lines.push(
        `${head} |${behind()}`,
        ...pem
          .trimEnd()
          .split('\n')
          .map((line) => `${inner}${line}`),
      );
      if (maybe(0.3)) lines.push('');
    } else {
      const apart = maybe(0.1) ? `${behind()}\n${before}  ` : pick([' ', '  ']);
      lines.push(`${head}${apart}${flowOf(random, value)}${behind()}`);
    }
  }
}

/** Each number comes once. */
const overrideForms: readonly ((before: string, number: number) => string)[] = [
  (_, number) => ` {id: 91234567890123456${number + 10}, mode: 0644,  v: 1.10} # as it is`,
  (before, number) =>
    `   # ours\n${before}      id: ${number}.10\n${before}   # between\n${before}      on: [yes , 1_000]`,
  (before, number) =>
    `\n${before} t${number}: |2\n${before}     more\n${before}   less\n${before} &k q: &a 12:30:45\n${before} r: *a`,
];

/** Another value of the same kind, as flags make it. */
function changed(random: Random, value: unknown, depth = 0): unknown {
  const { maybe, pick, below } = random;
  if (Array.isArray(value)) {
    if (value.length > 0 && value.every(isTree)) {
      return value.map((item) => (maybe(0.5) ? { ...item, ip: scalarOf(random) } : item));
    }
    const left = value.filter(() => maybe(0.7)) as unknown[];
    const added = Array.from({ length: below(3) }, () => scalarOf(random));
    return pick([
      [...left, ...added],
      [...added, ...left],
    ]);
  }
  if (!isTree(value)) return scalarOf(random);
  const entries = Object.entries(value).flatMap(([key, each]) => {
    if (maybe(0.15) && (depth > 0 || Object.keys(value).length > 1)) return [];
    return [[key, maybe(0.4) ? changed(random, each, depth + 1) : each] as const];
  });
  if (entries.length === 0 && depth === 0) return value;
  if (maybe(0.3)) entries.splice(below(entries.length + 1), 0, ['added', anyValue(random, 1)]);
  return Object.fromEntries(entries);
}

function textOf(random: Random, tree: Tree): { text: string } & Written {
  const written: Written = { lines: [], comments: [], overrides: [] };
  const { maybe } = random;
  if (maybe(0.1)) written.lines.push('# head', '---');
  writeMap(random, tree, 0, [], written);
  if (maybe(0.1)) written.lines.push('...');
  const isLastOpen = maybe(0.2) && !/^\s+-----END|^$/.test(written.lines.at(-1) ?? '');
  const eol = maybe(0.3) ? '\r\n' : '\n';
  const withEol = (text: string) => text.replaceAll('\n', eol);
  const text = withEol(`${maybe(0.1) ? '\ufeff' : ''}${written.lines.join('\n')}${isLastOpen ? '' : '\n'}`);
  return { ...written, text, overrides: written.overrides.map((each) => ({ ...each, text: withEol(each.text) })) };
}

const at = (tree: unknown, place: readonly string[]): unknown =>
  place.reduce<unknown>((value, key) => (isTree(value) ? value[key] : undefined), tree);

const stripped = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(stripped)
    : isTree(value)
      ? Object.fromEntries(
          Object.entries(value).flatMap(([key, each]) => (key === 'override' ? [] : [[key, stripped(each)]])),
        )
      : value;

/** Places of single values, but of those in lists. */
const leavesOf = (value: unknown, place: readonly string[] = []): (readonly string[])[] =>
  isTree(value)
    ? Object.entries(value).flatMap(([key, each]) => leavesOf(each, [...place, key]))
    : Array.isArray(value)
      ? []
      : [place];

const withLeaf = (tree: Tree, [key = '', ...rest]: readonly string[], value: unknown): Tree => ({
  ...tree,
  [key]: rest.length === 0 ? value : withLeaf(tree[key] as Tree, rest, value),
});

describe(`an edit of any YAML ${bySeed}`, function () {
  this.timeout(200_000);

  it('makes it mean what is wanted, to other readers too, and keeps every comment and override whose place stays', async () => {
    await searchFor(
      fc.property(fc.integer(), (seed) => {
        const random = createRandom(seed);
        const tree = treeOf(random, 3, 1);
        const { text, comments, overrides } = textOf(random, tree);
        expect(stripped(parse(text)), text).to.deep.equal(tree);
        const wanted = changed(random, tree) as Tree;
        const edited = editYaml(text, wanted);
        expect(edited, `${text}\n---\n${JSON.stringify(wanted)}`).to.be.a('string');
        const said = `${text}\n=== becomes ${JSON.stringify(wanted)}\n${edited}`;
        expect(stripped(parse(edited ?? '')), said).to.deep.equal(wanted);
        expect(stripped(load((edited ?? '').replace(/^\ufeff/, ''), { schema: CORE_SCHEMA })), said).to.deep.equal(
          wanted,
        );
        for (const { text: kept, place } of overrides) {
          if (isTree(at(wanted, place))) expect(edited, said).to.include(kept);
        }
        for (const { text: kept, place } of comments) {
          if (at(wanted, place) !== undefined) expect(edited, said).to.include(kept);
        }
        expect(editYaml(text, tree), text).to.equal(text);
      }),
    );
  });

  it('changes the bytes of one value alone', async () => {
    await searchFor(
      fc.property(fc.integer(), (seed) => {
        const random = createRandom(seed);
        const tree = treeOf(random, 3, 1);
        const leaves = leavesOf(tree);
        fc.pre(leaves.length > 0);
        const { text } = textOf(random, tree);
        const place = random.pick(leaves);
        const edited = editYaml(text, withLeaf(tree, place, scalarOf(random))) ?? '';
        const node = parseDocument(text).getIn(place, true);
        const [start = 0, end = 0] = (isScalar(node) && node.range) || [];
        expect(edited.startsWith(text.slice(0, start)), `${text}\n===\n${edited}`).to.equal(true);
        expect(edited.endsWith(text.slice(end)), `${text}\n===\n${edited}`).to.equal(true);
      }),
    );
  });
});
