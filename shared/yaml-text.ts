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
}

export function readYamlDocument(text: string, options: Parsing = {}): ReadDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...options, ...quiet, lineCounter: lines });
  const errors = document.errors.map((error) => faultAt(lines, error.pos[0], kinds[error.code]));
  const alias = errors.length > 0 ? undefined : openAlias(document);
  return {
    document,
    errors: alias === undefined ? errors : [faultAt(lines, alias, 'an alias has no anchor before it')],
    warnings: document.warnings.map((warning) => faultAt(lines, warning.pos[0], kinds[warning.code])),
    lineOf: (offset) => lines.linePos(offset).line,
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

/** The first mistake in a file that may hold several documents. */
export function faultInDocuments(text: string): string | undefined {
  const lines = new LineCounter();
  for (const document of [parseAllDocuments(text, { ...quiet, lineCounter: lines })].flat()) {
    const [error] = 'errors' in document ? document.errors : [];
    if (error !== undefined) return faultText(faultAt(lines, error.pos[0], kinds[error.code]));
  }
  return undefined;
}

/** `a key stands twice, at line 3, column 5` */
export const faultText = ({ why, line, column }: YamlFault): string => `${why}, at line ${line}, column ${column}`;

function faultAt(lines: LineCounter, offset: number, why: string): YamlFault {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col), why };
}

/** Where an alias stands whose anchor does not come before it. */
function openAlias(document: Document): number | undefined {
  const anchors = new Set<string>();
  let found: number | undefined;
  visit(document, {
    Node(_, node) {
      if ('anchor' in node && typeof node.anchor === 'string') anchors.add(node.anchor);
    },
    Alias(_, alias) {
      if (anchors.has(alias.source)) return undefined;
      found = alias.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return found;
}
