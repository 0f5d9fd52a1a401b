/**
 * Reads YAML without ever quoting it. A file may hold secrets, so a fault names line, column and kind alone, and the library
 * emits no warnings.
 */
import { type Document, LineCounter, parseAllDocuments, parseDocument, visit } from 'yaml';

export interface YamlFault {
  readonly line: number;
  readonly column: number;
  /** The kind of mistake, without a word of the file. */
  readonly why: string;
}

type Parsing = NonNullable<Parameters<typeof parseDocument>[1]>;
type FaultOfLibrary = Document['errors'][number] | Document['warnings'][number];

/** By the library's codes. Its messages quote the file. */
const kinds: Readonly<Record<FaultOfLibrary['code'], string>> = {
  ALIAS_PROPS: 'an alias has an anchor or a tag',
  BAD_ALIAS: 'an alias is not written rightly',
  BAD_COLLECTION_TYPE: 'a tag does not fit what follows it',
  BAD_DIRECTIVE: 'a directive is not known',
  BAD_DQ_ESCAPE: 'a text in double quotes has an escape that YAML does not know',
  BAD_INDENT: 'it is indented in another way than what is beside it',
  BAD_PROP_ORDER: 'an anchor or a tag stands in the wrong place',
  BAD_SCALAR_START: 'a text begins with a character that must be quoted',
  BLOCK_AS_IMPLICIT_KEY: 'a mapping stands in the place of a key',
  BLOCK_IN_FLOW: 'a list or mapping of several lines stands within brackets',
  DUPLICATE_KEY: 'a key stands twice',
  IMPOSSIBLE: 'it cannot be read',
  KEY_OVER_1024_CHARS: 'a key is longer than 1024 characters',
  MISSING_CHAR: 'a character is missing, such as a quote, a bracket or a colon',
  MULTILINE_IMPLICIT_KEY: 'a key is longer than a line',
  MULTIPLE_ANCHORS: 'two anchors stand together',
  MULTIPLE_DOCS: 'a second document begins',
  MULTIPLE_TAGS: 'two tags stand together',
  NON_STRING_KEY: 'a key is not a text',
  RESOURCE_EXHAUSTION: 'it is nested too deeply',
  TAB_AS_INDENT: 'a tab stands where only spaces may indent',
  TAG_RESOLVE_FAILED: 'a tag is not known or does not fit its value',
  UNEXPECTED_TOKEN: 'something stands where nothing may stand',
};

/** Its messages never reach the process: `silent` would hide errors, too. */
const quiet = { prettyErrors: false, logLevel: 'error' } as const satisfies Parsing;

export interface ReadDocument {
  readonly document: Document.Parsed;
  readonly errors: readonly YamlFault[];
  /** Such as a tag that nobody knows. */
  readonly warnings: readonly YamlFault[];
  lineOf(offset: number): number;
  placeOf(offset: number): { readonly line: number; readonly column: number };
}

export function readYamlDocument(text: string, options: Parsing = {}): ReadDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...options, ...quiet, lineCounter: lines });
  const errors = document.errors.map((error) => faultAt(lines, error.pos[0], kinds[error.code]));
  const alias = errors.length > 0 ? undefined : openAlias(document);
  return {
    document,
    errors: alias === undefined ? errors : [faultAt(lines, alias.offset, alias.why)],
    warnings: document.warnings.map((warning) => faultAt(lines, warning.pos[0], kinds[warning.code])),
    lineOf: (offset) => lines.linePos(offset).line,
    placeOf(offset) {
      const { line, column } = faultAt(lines, offset, '');
      return { line, column };
    },
  };
}

/** What one document holds, or why it cannot be read. Its empty text is `null`. */
export function parseYaml(
  text: string,
  { maxAliasCount = 100 }: { readonly maxAliasCount?: number } = {},
): { readonly content: unknown } | { readonly fault: string } {
  const { document, errors } = readYamlDocument(text);
  const [first] = errors;
  if (first !== undefined) return { fault: faultText(first) };
  try {
    return { content: document.toJS({ maxAliasCount }) as unknown };
  } catch {
    return { fault: 'its aliases multiply, or it is nested too deeply' };
  }
}

/** A file that may hold several documents: its first mistake, or where readers of YAML 1.1 and 1.2 read it differently. */
export function readDocuments(text: string): { readonly fault: string } | { readonly documents: readonly Document[] } {
  const lines = new LineCounter();
  const documents = [parseAllDocuments(text, { ...quiet, lineCounter: lines })].flat() as Document[];
  for (const document of documents) {
    const [error] = document.errors;
    if (error !== undefined) return { fault: faultText(faultAt(lines, error.pos[0], kinds[error.code])) };
    const alias = openAlias(document);
    if (alias !== undefined) return { fault: faultText(faultAt(lines, alias.offset, alias.why)) };
  }
  return { documents };
}

/** `a key stands twice, at line 3, column 5` */
export const faultText = ({ why, line, column }: YamlFault): string => `${why}, at line ${line}, column ${column}`;

function faultAt(lines: LineCounter, offset: number, why: string): YamlFault {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col), why };
}

/** Where an alias stands whose anchor does not come before it, or is around it. */
function openAlias(document: Document): { readonly offset: number; readonly why: string } | undefined {
  const anchors = new Map<string, readonly [number, number, number] | null | undefined>();
  let found: { offset: number; why: string } | undefined;
  visit(document, {
    Node(_, node) {
      if ('anchor' in node && typeof node.anchor === 'string') anchors.set(node.anchor, node.range);
    },
    Alias(_, alias) {
      const offset = alias.range?.[0] ?? 0;
      if (!anchors.has(alias.source)) found = { offset, why: 'an alias has no anchor before it' };
      else if (offset < (anchors.get(alias.source)?.[1] ?? 0))
        found = { offset, why: 'an alias stands in what it means' };
      return found === undefined ? undefined : visit.BREAK;
    },
  });
  return found;
}
