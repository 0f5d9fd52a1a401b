/**
 * What the command line uses of its process: streams, environment, folder and signals. Code that runs plinth inside another
 * process passes its own.
 */
import type { StdioOptions } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';

type InputStream = Readable & Partial<Pick<NodeJS.ReadStream, 'isTTY' | 'setRawMode'>>;
export type OutputStream = Writable & Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'rows'>>;

export interface Io {
  /** Touching it opens it, so a command that never asks must not touch it. */
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** For a program that runs in plinth's place: the streams themselves. */
  readonly inherited: StdioOptions;
  /** Reads standard input to its end, synchronously. */
  readStdin(): string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Relative paths begin here. Undefined means the folder of the process. */
  readonly folder: string | undefined;
  /** plinth itself, as a command line that other programs can run. */
  readonly program: readonly string[];
  /** `SIGINT` and other signals, and `exit` before `exit()` ends the process. */
  readonly events: EventEmitter;
  /** Ends the process at once, whatever is under way. */
  exit(code: number): void;
}
