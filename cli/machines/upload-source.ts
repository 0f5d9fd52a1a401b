/**
 * A file of the caller's as it is sent to a machine: readable from any offset, and checked against the hash in the request.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { FileSource } from '../../functions/remote/remote.js';
import type { Upload } from '../../shared/bootstrap/upload.js';
import { Problem } from '../../shared/problems.js';
import { reason } from '../files/files.js';

export interface LocalUpload extends Upload {
  /** As the caller wrote it. */
  readonly path: string;
  /** The path that can be opened. */
  readonly place: string;
}

export interface CheckedSource extends FileSource {
  /** Throws a Problem if the file has changed. */
  checkUnchanged(): Promise<void>;
}

export async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

export async function sourceOf(file: LocalUpload): Promise<CheckedSource> {
  const { path, place, sha256, bytes } = file;
  const found = await stat(place).catch((error: unknown) => {
    throw changed(path, reason(error));
  });
  if (found.size !== bytes) throw changed(path, `it had ${bytes} bytes, and has ${found.size}`);
  return {
    size: bytes,
    sha256,
    read: (offset) => createReadStream(place, { start: offset }),
    async checkUnchanged() {
      const now = await hashOf(place).catch((error: unknown) => {
        throw changed(path, reason(error));
      });
      if (now !== sha256) throw changed(path, 'its content is another');
    },
  };
}

const changed = (path: string, how: string): Problem =>
  new Problem('bad-input', `${path} has changed since this command began: ${how}.`, {
    advice: 'Run the same command again: it goes on with the file as it is now.',
  });
