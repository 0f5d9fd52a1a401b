#!/usr/bin/env node
/** `plinth` as a process. Only this file uses the process's streams, environment and exit. Other files take them from `Io`. */
import { readFileSync } from 'node:fs';
import { isSea } from 'node:sea';
import { runPlinth } from './run.js';

function unwritable({ code, message }: NodeJS.ErrnoException): never {
  // A reader that stops early, such as head, is no fault.
  if (code === 'EPIPE') process.exit(0);
  process.stderr.write(`Error: the output cannot be written: ${code ?? message}.\n`);
  process.exit(1);
}
process.stdout.on('error', unwritable);
// Writes to a file are synchronous in Node, and throw.
const write = process.stdout.write.bind(process.stdout) as (...args: unknown[]) => boolean;
process.stdout.write = (...args: unknown[]): boolean => {
  try {
    return write(...args);
  } catch (error) {
    return unwritable(error as NodeJS.ErrnoException);
  }
};
// If nobody reads stderr any more, the result is still good.
process.stderr.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

// Detects a Google machine by its BIOS, without asking a metadata server. Elsewhere that request is only slow and noisy.
if (process.env['GCE_METADATA_HOST'] === undefined && process.env['GCE_METADATA_IP'] === undefined) {
  process.env['METADATA_SERVER_DETECTION'] ??= 'bios-only';
}

process.exitCode = await runPlinth(process.argv.slice(2), {
  // A getter, because touching it makes Node set a pipe to non-blocking. ssh would inherit that.
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  inherited: 'inherit',
  readStdin: () => readFileSync(0, 'utf8'),
  env: process.env,
  folder: undefined,
  // This file under Node, or the single executable.
  program: [process.execPath, ...(isSea() ? [] : [process.argv[1] ?? ''])],
  events: process,
  exit: (code) => process.exit(code),
});
