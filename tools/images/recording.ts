/**
 * A recording of a terminal as one SVG that moves by itself: a strip of frames, of which one is seen at a time. A line that
 * many frames share is drawn once. Whoever wants no motion sees the frame that it rests on.
 */
import type { Drawn, Size } from './screen.js';

export interface Frame {
  readonly rows: readonly (readonly Drawn[])[];
  /** How long it is seen. */
  readonly seconds: number;
  /** What most matters: without motion, it is the picture. */
  readonly rests: boolean;
}

const [cellWidth, lineHeight, fontSize, margin] = [7.8, 18, 13, 12] as const;
/** The last frame stays so long before it begins anew. */
const lastSeconds = 4;
/** Of a terminal that is dark: the eight colours, and the eight brighter ones. */
const palette = [
  ...['#303a38', '#ff9c92', '#7fd497', '#f0c063', '#7db4f0', '#d79bea', '#5fcdb6', '#e7eceb'],
  ...['#71807d', '#ffb4ad', '#a3e4b4', '#f7d794', '#a6cbf5', '#e4bdf0', '#8fdfce', '#ffffff'],
];

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const round = (number: number): number => Math.round(number * 100) / 100;

interface Run {
  readonly at: number;
  readonly style: string;
  readonly text: string;
}

const styleOf = ({ colour, bold, dim }: Drawn): string =>
  [
    colour === undefined ? '' : ` fill="${palette[colour] ?? '#e7eceb'}"`,
    bold ? ' font-weight="700"' : '',
    dim ? ' opacity=".6"' : '',
  ].join('');

/** Cells beside each other that look alike. Blanks between words belong to them, wider gaps do not. */
function runsOf(row: readonly Drawn[]): Run[] {
  const runs: Run[] = [];
  let at = 0;
  for (const cell of row) {
    const [style, last] = [styleOf(cell), runs.at(-1)];
    if (last !== undefined && last.style === style && last.at + last.text.length === at) {
      runs[runs.length - 1] = { ...last, text: last.text + cell.text };
    } else runs.push({ at, style, text: cell.text });
    at += 1;
  }
  return runs.flatMap(({ at: begin, style, text }) =>
    [...text.matchAll(/\S+(?: \S+)*/g)].map(({ 0: word, index }) => ({ at: begin + index, style, text: word })),
  );
}

/** The width is given, as fonts differ from computer to computer. */
const lineOf = (row: readonly Drawn[]): string =>
  runsOf(row)
    .map(({ at, style, text }) => {
      const width = [...text].length * cellWidth;
      return `<text x="${round(at * cellWidth)}" textLength="${round(width)}" lengthAdjust="spacingAndGlyphs"${style}>${escaped(text)}</text>`;
    })
    .join('');

export function drawRecording(frames: readonly Frame[], { columns, rows }: Size, title: string): string {
  const lines = new Map<string, string>();
  const [width, height] = [Math.ceil(columns * cellWidth + 2 * margin), rows * lineHeight + 2 * margin];
  const strip = frames.map(({ rows: drawn }, n) => {
    const uses = drawn.flatMap((row, y) => {
      const line = lineOf(row);
      if (line === '') return [];
      const id = lines.get(line) ?? `l${lines.size.toString(36)}`;
      lines.set(line, id);
      return [`<use href="#${id}" y="${y * lineHeight + fontSize}"/>`];
    });
    return `<g transform="translate(0,${n * height})">${uses.join('')}</g>`;
  });
  const total = frames.reduce((sum, { seconds }) => sum + seconds, lastSeconds);
  let passed = 0;
  const keys = frames.map(({ seconds }, n) => {
    const key = `${round((passed / total) * 100)}%{transform:translateY(${-n * height}px)}`;
    passed += seconds;
    return key;
  });
  const last = -(frames.length - 1) * height;
  const rest = frames.findIndex(({ rests }) => rests);
  const still = rest === -1 ? last : -rest * height;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">`,
    `<title>${escaped(title)}</title>`,
    '<style>',
    `text{font:${fontSize}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}`,
    `.strip{transform:translateY(${still}px)}`,
    `@media (prefers-reduced-motion:no-preference){.strip{animation:play ${round(total)}s step-end infinite}}`,
    `@keyframes play{${keys.join('')}100%{transform:translateY(${last}px)}}`,
    '</style>',
    `<defs>${[...lines].map(([line, id]) => `<g id="${id}">${line}</g>`).join('\n')}</defs>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#121716"/>`,
    // A rule of the style sheet would go before the colours of the lines.
    `<g transform="translate(${margin},${margin})" fill="#e7eceb"><g class="strip">`,
    ...strip,
    '</g></g>',
    '</svg>',
    '',
  ].join('\n');
}
