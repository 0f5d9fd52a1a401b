/**
 * The `override` keys of a config, which hold what a person adds. Their text is handed on as it is, so it must mean the same
 * by itself, and to every reader. Pure.
 */
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, visit } from 'yaml';
import { differencesIn } from '../portable-yaml.js';
import { Problem } from '../problems.js';
import { faultText, readYamlDocument, type YamlFault } from '../yaml-text.js';
import { endOf, isTree } from './edit-places.js';

/** A feature may have this name, too, and is no map. */
export const isOverride = ({ key, value }: Pair<unknown, unknown>): boolean =>
  isScalar(key) && key.value === 'override' && (isMap(value) || isAlias(value));

export function withoutOverrides(value: unknown): unknown {
  if (!isTree(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) =>
      key === 'override' && isTree(each) ? [] : [[key, withoutOverrides(each)]],
    ),
  );
}

interface Override {
  readonly path: string;
  readonly value: Node;
  readonly start: number;
  readonly end: number;
}

function overridesIn(document: Document): Override[] {
  const found: Override[] = [];
  const look = (node: unknown, path: string): void => {
    if (isSeq(node)) for (const [index, item] of node.items.entries()) look(item, `${path}[${index}]`);
    if (!isMap(node)) return;
    for (const pair of node.items as Pair<Node, Node>[]) {
      const here = `${path}.${isScalar(pair.key) ? String(pair.key.value) : '?'}`;
      if (!isOverride(pair)) look(pair.value, here);
      else found.push({ path: here, value: pair.value as Node, start: pair.key.range?.[0] ?? 0, end: endOf(pair) });
    }
  };
  look(document.contents, '');
  return found;
}

/** The text of each override by its path, from its key to its last byte. */
export function overrideTexts(text: string): Map<string, string> {
  return new Map(
    overridesIn(readYamlDocument(text).document).map(({ path, start, end }) => [path, text.slice(start, end)]),
  );
}

/** What leaves an override, or reaches into it. Elsewhere it would mean another value. */
export function overrideFaults(text: string): YamlFault[] {
  const { document, errors, placeOf } = readYamlDocument(text);
  if (errors.length > 0) return [];
  const overrides = overridesIn(document);
  if (overrides.length === 0) return [];
  const holderOf = ({ range }: Node) =>
    overrides.find(({ start, end }) => range != null && start <= range[0] && range[0] <= end);
  const foreign = Object.entries(document.directives?.tags ?? {})
    .filter(([handle, prefix]) => !(handle === '!!' && prefix === 'tag:yaml.org,2002:'))
    .map(([, prefix]) => prefix);
  const faults: YamlFault[] = [];
  const fault = (node: Node, why: string) => void faults.push({ ...placeOf(node.range?.[0] ?? 0), why });
  visit(document, {
    Alias(_, alias) {
      const anchor = alias.resolve(document);
      if (anchor === undefined) return;
      const [here, there] = [holderOf(alias), holderOf(anchor)];
      const [from = 0, , to = 0] = anchor.range ?? [];
      if (here !== there) fault(alias, here === undefined ? into : outOf);
      else if (here === undefined && overrides.some(({ start }) => from <= start && start < to)) fault(alias, into);
    },
    Node(_, node) {
      if (isAlias(node) || node.tag === undefined || holderOf(node) === undefined) return;
      if (foreign.some((prefix) => node.tag?.startsWith(prefix))) fault(node, ofDirective);
    },
  });
  return faults;
}

/** `Problem` bad-input that names each fault by its line. */
export function checkOverrides(text: string): void {
  const faults = overrideFaults(text).map(faultText);
  if (faults.length === 0) return;
  throw new Problem('bad-input', `The install config cannot be handed on as it is: ${faults.join('; ')}.`, {
    errors: faults.map((message) => ({ path: 'override', message })),
    advice: 'Write the value itself in place of the alias or tag, then run the command again.',
  });
}

const outOf = 'an alias in `override` has its anchor outside of it';
const into = 'an alias has its anchor in an `override`, or stands for a part that has one';
const ofDirective = 'a tag in `override` needs a %TAG directive at the top';

/** Values in overrides that readers of YAML 1.1 and 1.2 read differently. */
export function overrideDoubts(text: string): YamlFault[] {
  const { document, errors } = readYamlDocument(text);
  if (errors.length > 0) return [];
  const overrides = overridesIn(document);
  return differencesIn(
    text,
    overrides.map(({ value }) => value),
    overrides.map(({ start, end }) => [start, end] as const),
  );
}
