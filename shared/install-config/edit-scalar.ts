/** Edits one value of a YAML text, in the quotes that it has. Pure. */
import { type CST, Scalar } from 'yaml';
import { portableJson, portableYaml } from '../portable-yaml.js';
import type { Edit } from './edit-places.js';

/** One line, for within brackets and for behind a key. */
export const flowText = (value: unknown): string => portableYaml([value], { flow: true }).trim().slice(1, -1).trim();

interface Beside {
  /** What stands between the key and the value. */
  readonly sep: readonly CST.SourceToken[] | undefined;
  readonly inFlow: boolean;
}

export function* scalarEdits(
  { text, eol }: { readonly text: string; readonly eol: string },
  scalar: Scalar,
  to: unknown,
  { sep = [] }: Beside,
): Generator<Edit> {
  const [start = 0, end = 0] = scalar.range ?? [];
  const tag = scalar.tag === undefined ? undefined : sep.find(({ type }) => type === 'tag');
  // The tag was meant for the old value.
  if (tag !== undefined) {
    const past = tag.offset + tag.source.length;
    yield { start: tag.offset, end: past + (text[past] === ' ' ? 1 : 0), text: '' };
  }
  const isBlock = scalar.type === Scalar.BLOCK_LITERAL || scalar.type === Scalar.BLOCK_FOLDED;
  if (isBlock) yield { start, end, text: blockText(text.slice(start, end), to, eol) };
  else yield { start, end, text: `${start === end ? ' ' : ''}${quotedAs(scalar, to)}` };
}

function quotedAs({ type }: Scalar, to: unknown): string {
  if (typeof to !== 'string') return String(to);
  if (type === Scalar.QUOTE_SINGLE && /^[\x20-\x7e\u00a0-\u2027\u202a-\ud7ff]*$/.test(to)) {
    return `'${to.replaceAll("'", "''")}'`;
  }
  return type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE || /[\r\n]/.test(to)
    ? portableJson(to)
    : flowText(to);
}

/** A text in lines keeps its indentation, and the comment behind its mark. */
function blockText(old: string, to: unknown, eol: string): string {
  const [, comment = ''] = /^[|>][-+0-9]*([ \t]+#[^\r\n]*)?/.exec(old) ?? [];
  const indent = /\n( +)(?=[^\s])/.exec(old)?.[1];
  // Blank lines below it stay.
  const last = /(?:\r?\n[ \t]*)*$/.exec(old)?.[0].replace(/^\r?\n/, eol) ?? '';
  // A blank or indented first line would need another mark.
  if (
    typeof to !== 'string' ||
    indent === undefined ||
    !/^(?:[\x21-\x7e][\x20-\x7e]*\n)*[\x21-\x7e][\x20-\x7e]*\n?$/.test(to)
  ) {
    return `${typeof to === 'string' ? portableJson(to) : String(to)}${comment}${last}`;
  }
  const isClosed = to.endsWith('\n');
  const lines = (isClosed ? to.slice(0, -1) : to).split('\n').map((line) => `${eol}${indent}${line}`);
  // Without a last line end, the text would end with none, too.
  return `${isClosed ? '|' : '|-'}${comment}${lines.join('')}${isClosed && last === '' ? eol : last}`;
}
