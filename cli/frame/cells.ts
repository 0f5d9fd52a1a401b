/** Measures how wide text is on a terminal, for drawing and for columns, and cuts it to a width. */
import { printable } from './printable.js';

/** The number of cells that a text takes. Colours take none. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of printable(text)) width += cells(character.codePointAt(0) ?? 0);
  return width;
}

/** The width of one character. */
function cells(code: number): number {
  if ((code >= 0x300 && code <= 0x36f) || (code >= 0x200b && code <= 0x200f) || (code >= 0xfe00 && code <= 0xfe0f))
    return 0;
  const wide =
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd);
  return wide ? 2 : 1;
}

/** Makes a text exactly `width` cells wide: cuts it with an ellipsis, or pads it with spaces. */
export function clip(text: string, width: number): string {
  const clean = printable(text);
  const whole = widthOf(clean);
  if (whole <= width) return clean + ' '.repeat(width - whole);
  if (width === 0) return '';
  let cut = '';
  let used = 0;
  for (const character of clean) {
    const next = cells(character.codePointAt(0) ?? 0);
    if (used + next > width - 1) break;
    cut += character;
    used += next;
  }
  return `${cut}…${' '.repeat(width - 1 - used)}`;
}
