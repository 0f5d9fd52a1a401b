/** Images in a folder, in the layout of docker-registry 2, so that each can serve what the other stored. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Images, isDigest, mediaTypeOf } from '../../registry/images.js';

/** Undefined if the file does not exist. */
const ifThere = <T>(read: Promise<T>): Promise<T | undefined> =>
  read.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });

export function storedImages(folder: string): Images {
  const top = join(folder, 'docker', 'registry', 'v2');
  const repository = (image: string): string => join(top, 'repositories', image);
  const tagsOf = (image: string): string => join(repository(image), '_manifests', 'tags');
  const [revisions, layers] = [join('_manifests', 'revisions'), '_layers'];

  const pathOf = (digest: string): string[] => digest.split(':');
  function dataOf(digest: string): string {
    const [algorithm = '', hex = ''] = pathOf(digest);
    return join(top, 'blobs', algorithm, hex.slice(0, 2), hex, 'data');
  }
  /** The digest in a link. */
  const follow = async (path: string): Promise<string | undefined> =>
    (await ifThere(readFile(join(path, 'link'), 'utf8')))?.trim();
  /** An image has only the contents that its own repository links to. */
  const linked = async (image: string, kind: string, digest: string): Promise<Buffer | undefined> =>
    (await follow(join(repository(image), kind, ...pathOf(digest)))) === digest
      ? ifThere(readFile(dataOf(digest)))
      : undefined;

  /** Writes the whole file or nothing. */
  async function write(image: string, path: string, content: Buffer | string): Promise<void> {
    const upload = join(repository(image), '_uploads', randomUUID());
    await mkdir(upload, { recursive: true });
    await writeFile(join(upload, 'data'), content);
    await mkdir(dirname(path), { recursive: true });
    await rename(join(upload, 'data'), path);
    await rm(upload, { recursive: true });
  }
  const link = (image: string, digest: string, ...path: string[]): Promise<void> =>
    write(image, join(repository(image), ...path, 'link'), digest);

  return {
    async manifest(image, reference) {
      const digest = isDigest(reference) ? reference : await follow(join(tagsOf(image), reference, 'current'));
      const bytes = digest === undefined ? undefined : await linked(image, revisions, digest);
      return digest === undefined || bytes === undefined ? undefined : { digest, type: mediaTypeOf(bytes), bytes };
    },
    blob: (image, digest) => linked(image, layers, digest),
    tags: async (image) => (await ifThere(readdir(tagsOf(image))))?.sort(),
    async putBlob(image, digest, bytes) {
      await write(image, dataOf(digest), bytes);
      await link(image, digest, layers, ...pathOf(digest));
    },
    async putManifest(image, { digest, bytes }, tag) {
      await write(image, dataOf(digest), bytes);
      await link(image, digest, revisions, ...pathOf(digest));
      if (tag === undefined) return;
      await link(image, digest, '_manifests', 'tags', tag, 'index', ...pathOf(digest));
      await link(image, digest, '_manifests', 'tags', tag, 'current');
    },
  };
}
