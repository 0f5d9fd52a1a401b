/** What a program says first. */
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** Its lines, one a call; empty once it says no more. Rejects where it cannot be started. */
export function linesOf(child: ChildProcess): () => Promise<string> {
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  failed.catch(() => undefined);
  const lines = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
  return () => Promise.race([failed, lines.next().then(({ value }) => ((value as string | undefined) ?? '').trim())]);
}

export const firstLine = (child: ChildProcess): Promise<string> => linesOf(child)();
