/** A measurement in a process of its own: neither memory nor compiled code of one shall show in another's. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Row } from './figures.js';

/** What does not end when it is asked to is killed. Emulators take up to ten seconds. */
const graceSeconds = 20;

/** Runs a program of Node, line by line. Returns why it failed; undefined if it did not. */
async function linesOf(
  args: readonly string[],
  stop: AbortSignal,
  onLine: (line: string) => void,
): Promise<string | undefined> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const end = (): void => {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), graceSeconds * 1000).unref();
  };
  if (stop.aborted) end();
  else stop.addEventListener('abort', end);
  const ended = new Promise<string | undefined>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code === 0 ? undefined : `It ended with ${signal ?? code}.`));
  });
  createInterface({ input: child.stdout }).on('line', onLine);
  const why = await ended;
  stop.removeEventListener('abort', end);
  return stop.aborted && why !== undefined ? String(stop.reason) : why;
}

/** Each row as it comes. Returns why it failed; undefined if it did not. */
export async function rowsOf(
  args: readonly string[],
  stop: AbortSignal,
  onRow: (row: Row) => void,
): Promise<string | undefined> {
  const strange: string[] = [];
  const why = await linesOf(args, stop, (line) => {
    if (line.startsWith('{')) onRow(JSON.parse(line) as Row);
    else strange.push(line);
  });
  return why ?? (strange.length === 0 ? undefined : `It printed what is no row: ${strange.join('\n')}`);
}
