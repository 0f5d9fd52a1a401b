/** The pictures that a measurement leaves beside its figures: SVG of rectangles, lines and words. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What git ignores. */
const folder = join('bench', 'drawings');

/** Returns where the picture is. */
export function draw(name: string, svg: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.svg`);
  writeFileSync(file, svg);
  return file;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const number = (value: number): string => String(Math.round(value * 10) / 10);

export interface Svg {
  rect(x: number, y: number, width: number, height: number, fill: string): void;
  line(points: readonly (readonly [x: number, y: number])[], stroke: string): void;
  text(x: number, y: number, words: string, anchor?: 'start' | 'middle' | 'end'): void;
  toString(): string;
}

/** Readable on light and on dark pages, because it has a ground of its own. `title` stands above, too. */
export function createSvg(width: number, height: number, title: string): Svg {
  const parts: string[] = [];
  return {
    rect: (x, y, w, h, fill) =>
      void parts.push(
        `<rect x="${number(x)}" y="${number(y)}" width="${number(w)}" height="${number(h)}" fill="${fill}"/>`,
      ),
    line: (points, stroke) =>
      void parts.push(
        `<polyline points="${points.map((point) => point.map(number).join()).join(' ')}" stroke="${stroke}"/>`,
      ),
    text: (x, y, words, anchor = 'start') =>
      void parts.push(
        `<text x="${number(x)}" y="${number(y)}"${anchor === 'start' ? '' : ` text-anchor="${anchor}"`}>${escaped(words)}</text>`,
      ),
    toString: () =>
      [
        `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
        `<title>${escaped(title)}</title>`,
        '<style>text{font:11px sans-serif;fill:#222}polyline{fill:none;stroke-width:1.5}</style>',
        `<rect width="${width}" height="${height}" fill="#fff"/>`,
        `<text x="8" y="16">${escaped(title)}</text>`,
        ...parts,
        '</svg>\n',
      ].join('\n'),
  };
}

/** Steps of 1, 2 or 5 and a power of ten, ten at most. */
export function ticksTo(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(most / 10));
  const step = ([1, 2, 5, 10].find((each) => (each * power * 10) / most >= 1) ?? 10) * power;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}
