/** Files of the caller's that machines need: their hashes for the request, and which are which. Called by bootstrap-cloud. */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileOptions, type GivenFlags, type GivenOptions } from '../shared/bootstrap/options.js';
import { uploadText } from '../shared/bootstrap/upload.js';
import { expandHome } from './files.js';
import { hashOf, type LocalUpload } from './upload-source.js';

export interface Uploads {
  /** What travels in place of the paths. */
  readonly options: GivenOptions;
  readonly files: readonly LocalUpload[];
}

/** Reads each file once; they have been looked at before. */
export async function readUploads(given: GivenFlags, home: string): Promise<Uploads> {
  const options: Record<string, string | string[]> = {};
  const files: LocalUpload[] = [];
  for (const option of fileOptions) {
    const value = given[option];
    if (value === undefined) continue;
    const found = await Promise.all(
      (typeof value === 'string' ? [value] : value).map((path) => readUpload(expandHome(path, home))),
    );
    files.push(...found);
    const texts = found.map(uploadText);
    options[option] = typeof value === 'string' ? (texts[0] as string) : texts;
  }
  return { options: options as GivenOptions, files };
}

const readUpload = async (path: string): Promise<LocalUpload> => ({
  path,
  name: basename(path),
  sha256: await hashOf(path),
  bytes: (await stat(path)).size,
});
