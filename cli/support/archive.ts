/** A gzipped tar archive of a few texts, made in memory: no part of it ever stands on the disk by itself. */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { Header } from 'tar';
import { Problem } from '../../shared/problems.js';
import { reasonOfWriting, secretMode } from '../files/files.js';

export interface ArchivedFile {
  readonly path: string;
  readonly text: string;
}

const block = 512;

export function archiveOf(folder: string, files: readonly ArchivedFile[], at: Date): Buffer {
  const parts = files.flatMap(({ path, text }) => {
    const body = Buffer.from(text);
    const header = new Header({
      path: `${folder}/${path}`,
      size: body.length,
      type: 'File',
      mode: secretMode,
      mtime: at,
      uid: 0,
      gid: 0,
    });
    header.encode();
    const padding = Buffer.alloc((block - (body.length % block)) % block);
    return [header.block ?? Buffer.alloc(block), body, padding];
  });
  // Two empty blocks end an archive.
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * block)]));
}

/** Readable by its owner alone. What stands there stays. */
export function writeArchive(place: string, path: string, content: Buffer): void {
  try {
    writeFileSync(place, content, { flag: 'wx', mode: secretMode, flush: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw standing(path);
    throw unwritable(path, reasonOfWriting(error), error);
  }
}

export const unwritable = (path: string, why: string, cause?: unknown): Problem =>
  new Problem('bad-input', `${path} cannot be written: ${why}.`, { advice: 'Name another file with --to.', cause });

export const standing = (path: string): Problem =>
  new Problem('conflict', `${path} is there already, and is not overwritten.`, {
    advice: 'Move it away, or name another file with --to.',
  });
