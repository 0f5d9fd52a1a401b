/** The form of a recording: lines of JSON, so that a run that is killed leaves what it saw. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import * as z from 'zod';

const Header = z.strictObject({
  kind: z.literal('plinth-first-contact'),
  /** Of this form. */
  form: z.literal(1),
  plinth: z.string(),
  /** Day of the run. */
  day: z.iso.date(),
  /** `google`, or that base URLs were settings: somebody else's cloud. */
  origin: z.enum(['google', 'settings']),
  region: z.string(),
  zone: z.string(),
});
export type Header = z.infer<typeof Header>;

const Exchange = z.strictObject({
  kind: z.literal('exchange'),
  check: z.string(),
  /** The number of the wait that it is part of. All exchanges of a wait ask the same. */
  wait: z.number().int().optional(),
  /** `{caller}`, or the placeholder of a token. */
  as: z.string(),
  api: z.string(),
  method: z.string(),
  path: z.string(),
  request: z.json().optional(),
  status: z.number().int(),
  response: z.json().optional(),
  milliseconds: z.number().int(),
});
export type Exchange = z.infer<typeof Exchange>;

const Result = z.strictObject({
  kind: z.literal('result'),
  check: z.string(),
  verdict: z.enum(['held', 'differs', 'unknown']),
  seen: z.string(),
});
export type Result = z.infer<typeof Result>;

const Line = z.discriminatedUnion('kind', [Header, Exchange, Result]);

export interface Recording {
  readonly header: Header;
  readonly exchanges: readonly Exchange[];
  readonly results: readonly Result[];
}

export interface Recorder {
  add(line: Exchange | Result): void;
}

/** Replaces the file, or throws. Later a full disk must not keep a run from removing what it made: `failed` is called once. */
export function beginRecording(file: string, header: Header, failed: (error: Error) => void): Recorder {
  writeFileSync(file, `${JSON.stringify(header)}\n`);
  let isWhole = true;
  return {
    add(line) {
      if (!isWhole) return;
      try {
        appendFileSync(file, `${JSON.stringify(line)}\n`);
      } catch (error) {
        isWhole = false;
        failed(error as Error);
      }
    },
  };
}

export function readRecording(file: string): Recording {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Line.parse(JSON.parse(line)));
  const [header] = lines;
  if (header?.kind !== 'plinth-first-contact') throw new Error(`${file} is no recording: it has no header.`);
  return {
    header,
    exchanges: lines.filter((line) => line.kind === 'exchange'),
    results: lines.filter((line) => line.kind === 'result'),
  };
}
