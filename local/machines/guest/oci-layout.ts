/** Reads an image from a folder, `oci:folder:tag`. */
import { createReadStream } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from './failure.js';
import type { Source } from './image-copy.js';

interface Index {
  readonly manifests?: readonly { readonly digest: string; readonly annotations?: Readonly<Record<string, string>> }[];
}

/** An empty `tag` means the only image in the folder. */
export function layoutAt(folder: string, tag: string): Source {
  const pathOf = (digest: string): string => join(folder, 'blobs', ...digest.split(':'));
  async function find(): Promise<string> {
    const index = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8')) as Index;
    const { manifests = [] } = index;
    const found = manifests.filter(
      ({ annotations }) => tag === '' || annotations?.['org.opencontainers.image.ref.name'] === tag,
    );
    const [first] = found;
    if (first === undefined) throw new Failure(`no descriptor found for reference "${tag}"`);
    if (tag === '' && found.length > 1) throw new Failure('more than one image in oci, choose an image');
    return first.digest;
  }
  return {
    name: `oci:${folder}:${tag}`,
    pinned: undefined,
    manifest: async (digest) => readFile(pathOf(digest ?? (await find()))),
    async blob(digest) {
      await access(pathOf(digest));
      return createReadStream(pathOf(digest));
    },
  };
}
