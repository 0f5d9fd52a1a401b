/** A folder as a tar archive that is the same bytes each time: names in order, no owners, no dates. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { create } from 'tar';

/** Files beneath a folder, by path with `/`, in order. */
export const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();

const same = { portable: true, mtime: new Date(0), noPax: false } as const;

/** Not compressed. */
export async function packed(folder: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of create({ ...same, cwd: folder }, filesIn(folder))) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export const pack = (folder: string, files: readonly string[], file: string): Promise<void> =>
  create({ ...same, cwd: folder, file, gzip: { level: 9 } }, [...files]);
