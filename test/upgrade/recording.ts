/**
 * What a release wrote while bootstraps were made and removed: documents, messages, and calls of the cloud, in the order in
 * which they took effect. Up to each commit it is a state that the next release may meet.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

/** `api` as the cloud's endpoints name it; `path` with its query. */
export interface CloudCallEntry {
  readonly kind: 'call';
  readonly api: string;
  readonly method: string;
  readonly path: string;
  /** E-mail. */
  readonly caller: string;
  readonly body: string;
  readonly type: string;
  /** What of the reply is used later, by its place in there. */
  readonly used: Readonly<Record<string, string>>;
}

export interface CommitEntry {
  readonly kind: 'commit';
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Whole, as they stand after it; no data: it is gone. */
  readonly documents: readonly {
    readonly collection: string;
    readonly id: string;
    readonly data?: Readonly<Record<string, unknown>>;
  }[];
}

export interface MessageEntry {
  readonly kind: 'message';
  readonly message: unknown;
}

export type Entry = CloudCallEntry | CommitEntry | MessageEntry;

export const folder = join('test', 'upgrade');
/** One entry a line, compressed. */
export const ending = '.jsonl.br';

/** Names of releases that left recordings. */
export const releases = (): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));

export const recordingsOf = (release: string): string[] =>
  readdirSync(join(folder, release))
    .filter((file) => file.endsWith(ending))
    .sort();

export const readRecording = (release: string, file: string): Entry[] =>
  brotliDecompressSync(readFileSync(join(folder, release, file)))
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Entry);

/** Texts of a reply by their place in it; of an etag what stands in its quotes, of a project its number. */
export function textsIn(value: unknown, place = ''): [place: string, text: string][] {
  if (typeof value === 'string') return [[place, /^(?:W\/"|projects\/(?=\d+$))([^"]*)"?$/.exec(value)?.[1] ?? value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => textsIn(each, `${place}/${key}`));
}
