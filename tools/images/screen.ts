/**
 * A terminal without a window: what was drawn is read from its cells. The emulator is that of many terminals, xterm.js, whose
 * lines wrap anew when the window changes. It has its packages in a folder of its own, tools/clients/terminal.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** One cell as it looks. A colour is an index of the palette, or undefined for the terminal's own. */
export interface Drawn {
  readonly text: string;
  readonly colour: number | undefined;
  readonly bold: boolean;
  readonly dim: boolean;
}

export interface Screen {
  /** Resolves once it is drawn. */
  write(text: string): Promise<void>;
  resize(size: Size): void;
  /** What one sees, from top to bottom. */
  lines(): string[];
  /** What has left the screen at its top. */
  scrolled(): string[];
  drawn(): Drawn[][];
  /** The indices of rows that the terminal began itself, because a line was too long. */
  wrapped(): number[];
}

interface Cell {
  getChars(): string;
  getWidth(): number;
  getFgColor(): number;
  isFgPalette(): boolean;
  isBold(): number;
  isDim(): number;
}
interface Line {
  readonly isWrapped: boolean;
  readonly length: number;
  getCell(x: number): Cell | undefined;
  translateToString(trimRight: boolean): string;
}
interface Terminal {
  readonly rows: number;
  readonly buffer: { readonly active: { readonly baseY: number; getLine(y: number): Line | undefined } };
  write(text: string, done: () => void): void;
  resize(columns: number, rows: number): void;
}
interface Emulator {
  readonly default: {
    readonly Terminal: new (options: {
      readonly cols: number;
      readonly rows: number;
      readonly scrollback: number;
      readonly allowProposedApi: true;
    }) => Terminal;
  };
}

const packages = fileURLToPath(new URL('../../../tools/clients/terminal', import.meta.url));

/** Fetches the emulator from npm, and returns what opens a screen. */
export async function loadScreens(): Promise<(size: Size) => Screen> {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-terminal-'));
  try {
    cpSync(packages, folder, { recursive: true });
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    await promisify(execFile)('npm', args, { cwd: folder });
    const entry = join(folder, 'node_modules/@xterm/headless/lib-headless/xterm-headless.js');
    const emulator = (await import(pathToFileURL(entry).href)) as Emulator;
    return (size) => openScreen(emulator, size);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function openScreen({ default: { Terminal } }: Emulator, { columns, rows }: Size): Screen {
  const terminal = new Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  const linesIn = (from: number, to: number): Line[] =>
    Array.from({ length: to - from }, (_, n) => terminal.buffer.active.getLine(from + n)).filter(
      (line) => line !== undefined,
    );
  const seen = (): Line[] => linesIn(terminal.buffer.active.baseY, terminal.buffer.active.baseY + terminal.rows);
  return {
    write: (text) => new Promise((resolve) => terminal.write(text, resolve)),
    resize: (size) => terminal.resize(size.columns, size.rows),
    lines: () => seen().map((line) => line.translateToString(true)),
    scrolled: () => linesIn(0, terminal.buffer.active.baseY).map((line) => line.translateToString(true)),
    drawn: () => seen().map(drawnIn),
    wrapped: () => seen().flatMap(({ isWrapped }, row) => (isWrapped ? [row] : [])),
  };
}

const drawnIn = (line: Line): Drawn[] =>
  Array.from({ length: line.length }, (_, x) => line.getCell(x)).flatMap((cell) =>
    // The second half of a wide character has no width.
    cell === undefined || cell.getWidth() === 0
      ? []
      : [
          {
            text: cell.getChars() || ' ',
            colour: cell.isFgPalette() ? cell.getFgColor() : undefined,
            bold: cell.isBold() !== 0,
            dim: cell.isDim() !== 0,
          },
        ],
  );
