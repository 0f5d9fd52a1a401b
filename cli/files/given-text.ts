/** The text of a file that a user gives: UTF-8 with or without a byte order mark. A fault names line and column, and no word of the file. */
import { readBytes } from './files.js';

/** Thrown for bytes that are no text. */
export interface TextFault extends Error {
  readonly code: typeof noText;
  readonly line: number;
  readonly column: number;
  /** Without the place. */
  readonly why: string;
  /** What follows the place. */
  readonly remedy: string;
}

const noText = 'NO_TEXT';

export const isTextFault = (error: unknown): error is TextFault =>
  error instanceof Error && (error as Partial<TextFault>).code === noText;

/** Throws if it cannot be read, is too large or is no text. For a file without secrets. */
export const readGivenText = (path: string): string => textIn(readBytes(path), path);

/** Throws a `TextFault`. */
export function textIn(bytes: Buffer, path: string): string {
  const read = textOrFault(bytes);
  if (typeof read === 'string') return read;
  throw Object.assign(read, { path });
}

function textOrFault(bytes: Buffer): string | TextFault {
  if (isUtf16(bytes)) return faultAt(bytes, 0, 'is UTF-16', saveAs);
  const nul = bytes.indexOf(0);
  if (nul !== -1) return faultAt(bytes, nul, 'holds a NUL, which no text has');
  try {
    // It leaves out a byte order mark, which some editors write.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return faultAt(bytes, foreignByte(bytes), 'is not UTF-8', saveAs);
  }
}

/** By its mark, or by the zeros that latin letters have in it. */
function isUtf16(bytes: Buffer): boolean {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  if (bytes.length < 2 || bytes.length % 2 !== 0) return false;
  const start = bytes.subarray(0, 256);
  const zerosFrom = (from: number) => start.filter((byte, at) => at % 2 === from && byte === 0).length;
  const [even, odd] = [zerosFrom(0), zerosFrom(1)];
  return Math.min(even, odd) === 0 && Math.max(even, odd) > start.length / 4;
}

/** Where the longest beginning that is UTF-8 ends. */
function foreignByte(bytes: Buffer): number {
  let [right, wrong] = [0, bytes.length];
  while (wrong - right > 1) {
    const middle = Math.floor((right + wrong) / 2);
    if (isUtf8SoFar(bytes.subarray(0, middle))) right = middle;
    else wrong = middle;
  }
  const cut = new TextDecoder('utf-8').decode(bytes.subarray(0, right), { stream: true });
  return Buffer.byteLength(cut) + (bytes.subarray(0, 3).equals(mark) ? mark.length : 0);
}

const mark = Buffer.from('\uFEFF');

/** A character that is cut is none that is wrong. */
function isUtf8SoFar(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

const saveAs = '; save it as UTF-8';

function faultAt(bytes: Buffer, offset: number, why: string, remedy = ''): TextFault {
  const before = bytes
    .subarray(0, offset)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split('\n');
  const [line, column] = [before.length, (before.at(-1) ?? '').length + 1];
  const message = `it ${why}, at line ${line}, column ${column}${remedy}`;
  return Object.assign(new Error(message), { code: noText, line, column, why, remedy } as const);
}
