/** What the command line has of its process: its streams, environment, folder and signals. Given by main; whoever runs plinth within another process gives others. */
import type { StdioOptions } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';

type InputStream = Readable & Partial<Pick<NodeJS.ReadStream, 'isTTY' | 'setRawMode'>>;
export type OutputStream = Writable & Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'rows'>>;

export interface Io {
  /** To touch it opens it: what never asks must not. */
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** For a program that is run in plinth's place: the streams themselves. */
  readonly inherited: StdioOptions;
  /** Standard input to its end, at once. */
  readStdin(): string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where relative paths begin; undefined for the folder of the process. */
  readonly folder: string | undefined;
  /** plinth itself, as a command line that other programs can run. */
  readonly program: readonly string[];
  /** `SIGINT` and other signals, and `exit` before the process ends by `exit`. */
  readonly events: EventEmitter;
  /** Ends it at once, whatever is under way. */
  exit(code: number): void;
}
