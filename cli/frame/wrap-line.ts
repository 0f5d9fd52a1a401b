/** Breaks long lines between words, so that a terminal never breaks one within a word. */
import { widthOf } from './cells.js';

/** A hanging column needs so much room. Where it has less, what goes on begins beneath the line's own beginning. */
const leastRoom = 28;

/** A command stays whole for whoever copies it: its lines end as a shell wants them to. */
const command = /^(?:\$| {2,}) *(?:\$ )?(?:plinth |[A-Z_]+=\S+ )/;

/** The lines of one line, each at most `columns` cells wide. A word that is wider stays whole. */
export function wrapLine(line: string, columns: number): string[] {
  if (columns < 20 || widthOf(line) <= columns) return [line];
  if (command.test(line)) return /['"]/.test(line) ? [line] : broken(line, columns - 2, ' \\');
  return broken(line, columns, '');
}

function broken(line: string, columns: number, end: string): string[] {
  const hang = hangOf(line, columns);
  const lines: string[] = [];
  let rest = line;
  for (;;) {
    const at = widthOf(rest) <= columns ? -1 : lastBreak(rest, columns);
    if (at < 0) return restyled([...lines, rest]);
    lines.push(`${rest.slice(0, at).trimEnd()}${end}`);
    rest = `${' '.repeat(hang)}${rest.slice(at).trimStart()}`;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what colours text begins with one
const styling = /\u001b\[(\d+)m/g;
/** What ends a style: bold and dim by 22, a colour by 39. */
const ends: ReadonlySet<string> = new Set(['22', '39']);

/** A style in which a line breaks ends there, and begins again on the next one. What is drawn in between stays free of it. */
function restyled(lines: readonly string[]): string[] {
  const open: string[] = [];
  return lines.map((line) => {
    const begun = open.join('');
    for (const [code, number = ''] of line.matchAll(styling)) {
      if (ends.has(number)) open.pop();
      else open.push(code);
    }
    return `${begun}${line}${open.length === 0 ? '' : '\u001b[0m'}`;
  });
}

/** The index of the space to break at: the last that fits, or the first of all. -1: there is none. */
function lastBreak(text: string, columns: number): number {
  const begin = text.length - text.trimStart().length;
  let found = -1;
  for (let at = text.indexOf(' ', begin); at >= 0; at = text.indexOf(' ', at + 1)) {
    if (found >= 0 && widthOf(text.slice(0, at)) > columns) break;
    found = at;
  }
  return found;
}

/** Where the last column of a table begins, if it has room; else two cells further in than the line. */
function hangOf(line: string, columns: number): number {
  const indent = line.length - line.trimStart().length;
  let hang = indent + 2;
  for (const gap of line.slice(indent).matchAll(/ {2,}/g)) {
    const column = widthOf(line.slice(0, indent + gap.index + gap[0].length));
    if (columns - column >= leastRoom) hang = column;
  }
  return hang;
}
