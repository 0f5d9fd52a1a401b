/** Writes files whole or not at all: a reader, or a crash, finds the old file or the new one. */
import { randomUUID } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';

export function writeWhole(file: string, text: string, mode = 0o600): void {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, text, { mode });
  renameSync(draft, file);
}
