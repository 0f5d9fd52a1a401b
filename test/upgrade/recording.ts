/**
 * What a release wrote while bootstraps were made and removed: documents, messages, calls of the cloud, and what it asked of
 * machines, in the order in which they took effect. Up to each commit it is a state that the next release may meet.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type { HostRequest } from '../../functions/remote/remote.js';

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

/** First in a recording that has machines: what these fetch. */
export interface WorldEntry {
  readonly kind: 'world';
  readonly plinth: string;
  readonly package: string;
}

/** What was asked of a machine, and succeeded. */
export type Exchange =
  | { readonly op: 'exec'; readonly command: string; readonly stdin?: string; readonly timeoutSeconds?: number }
  | { readonly op: 'upload'; readonly path: string; readonly content: string; readonly mode: number }
  | {
      readonly op: 'install';
      readonly from: string;
      readonly path: string;
      readonly mode: number;
      readonly sha256: string;
    }
  | { readonly op: 'read'; readonly path: string }
  | { readonly op: 'start'; readonly job: string; readonly script: string }
  | { readonly op: 'claim'; readonly job: string; readonly token: string }
  | { readonly op: 'kill'; readonly job: string }
  | { readonly op: 'ended'; readonly job: string; readonly exitCode: number };

export interface MachineEntry {
  readonly kind: 'machine';
  /** With the bootstrap's own key, one of the keys of tests. */
  readonly request: HostRequest;
  readonly asRoot: boolean;
  readonly asked: Exchange;
  /** As that of a call. */
  readonly used: Readonly<Record<string, string>>;
}

export type Entry = WorldEntry | CloudCallEntry | MachineEntry | CommitEntry | MessageEntry;

export const folder = join('test', 'upgrade');
/** One entry a line, compressed. */
export const ending = '.jsonl.br';
/** Of recordings with machines. */
export const machinesEnding = `.machines${ending}`;

/** Names of releases that left recordings. */
export const releases = (): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));

export const recordingsOf = (release: string, { machines }: { readonly machines: boolean }): string[] =>
  readdirSync(join(folder, release))
    .filter((file) => file.endsWith(ending) && file.endsWith(machinesEnding) === machines)
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

/** What a machine said, by its place: in one line, as later texts may hold it. */
export function textsSaid(said: string | Buffer): [place: string, text: string][] {
  const texts: [string, string][] = [['/text', said.toString('utf8').trim()]];
  if (typeof said !== 'string') texts.push(['/base64', said.toString('base64')]);
  return texts.filter(([, text]) => /^[^"\\\p{Cc}]{20,}$/u.test(text));
}

/** In place of a base URL, whose port is another each time. */
export const standInUrl = (name: string): string => `http://${name}.upgrade.example`;
