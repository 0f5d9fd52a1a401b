/** Reads the first lines that a program prints. */
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/**
 * Returns a function that reads one line per call, or an empty one at the end of the output. It rejects if the program cannot
 * start.
 */
export function linesOf(child: ChildProcess): () => Promise<string> {
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  failed.catch(() => undefined);
  const lines = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
  return () => Promise.race([failed, lines.next().then(({ value }) => ((value as string | undefined) ?? '').trim())]);
}

export const firstLine = (child: ChildProcess): Promise<string> => linesOf(child)();
