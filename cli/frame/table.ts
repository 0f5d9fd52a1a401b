/** Columns for people, on a terminal and in a pipe. */
import { widthOf } from './cells.js';
import { printable, type Style } from './output.js';

/** Text from elsewhere is a plain string. It can never paint itself. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string };

/** Columns are as wide as they need. The last one is not padded. */
export function table(rows: readonly (readonly Cell[])[]): string[] {
  const clean = rows.map((row) =>
    row.map((cell) => (typeof cell === 'string' ? { text: printable(cell), paint: plain } : cell)),
  );
  const widths: number[] = [];
  for (const row of clean) {
    for (const [i, { text }] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, widthOf(text));
  }
  return clean.map((row) => {
    const cells = row.map(({ text, paint }, i) => {
      const gap = i === row.length - 1 ? 0 : (widths[i] ?? 0) - widthOf(text);
      return `${paint(text)}${' '.repeat(gap)}`;
    });
    return `  ${cells.join('  ')}`;
  });
}

/** A table with a header row. */
export const listing = (head: readonly string[], rows: readonly (readonly Cell[])[], style: Style): string =>
  table([head.map((text) => ({ text, paint: style.bold })), ...rows]).join('\n');

const plain = (text: string): string => text;

/** `2026-01-31 12:05 UTC` */
export const time = (iso: string): string => `${new Date(iso).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
