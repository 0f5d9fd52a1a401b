#!/usr/bin/env node
/** `plinth` as a process. The one file of the command line that touches `process`, but for its number. */
import { readFileSync } from 'node:fs';
import { isSea } from 'node:sea';
import { runPlinth } from './run.js';

function unwritable({ code, message }: NodeJS.ErrnoException): never {
  // A reader that has read enough, such as head, is no fault.
  if (code === 'EPIPE') process.exit(0);
  process.stderr.write(`Error: the output cannot be written: ${code ?? message}.\n`);
  process.exit(1);
}
process.stdout.on('error', unwritable);
// To a file Node writes at once, and throws.
const write = process.stdout.write.bind(process.stdout) as (...args: unknown[]) => boolean;
process.stdout.write = (...args: unknown[]): boolean => {
  try {
    return write(...args);
  } catch (error) {
    return unwritable(error as NodeJS.ErrnoException);
  }
};
// Who does not listen to what is told beside the result changes nothing of it.
process.stderr.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

// Whether this is a machine of Google's is seen without asking a metadata server, which is elsewhere only slow and loud.
if (process.env['GCE_METADATA_HOST'] === undefined && process.env['GCE_METADATA_IP'] === undefined) {
  process.env['METADATA_SERVER_DETECTION'] ??= 'bios-only';
}

process.exitCode = await runPlinth(process.argv.slice(2), {
  // Only when it is asked for: Node makes a pipe non-blocking by that, also for ssh, which inherits it.
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  inherited: 'inherit',
  readStdin: () => readFileSync(0, 'utf8'),
  env: process.env,
  folder: undefined,
  // This file under Node, or the one executable.
  program: [process.execPath, ...(isSea() ? [] : [process.argv[1] ?? ''])],
  events: process,
  exit: (code) => process.exit(code),
});
