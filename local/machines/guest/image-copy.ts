/**
 * Copies an image unchanged, with all its architectures. It skips blobs that exist, and checks the others against their
 * digests.
 */
import type { Readable } from 'node:stream';
import { digestOf, referencesOf } from '../../registry/images.js';
import { during, Failure } from './failure.js';

export interface Source {
  /** The name with its transport. */
  readonly name: string;
  /** The digest in the image's name, if it has one. */
  readonly pinned: string | undefined;
  /** Without a digest: the manifest that the name means. */
  manifest(digest?: string): Promise<Buffer>;
  blob(digest: string): Promise<Readable>;
}

export interface Destination {
  hasBlob(digest: string): Promise<boolean>;
  putBlob(digest: string, content: Readable): Promise<void>;
  /** Without a digest: stores the manifest under the name. */
  putManifest(bytes: Buffer, digest?: string): Promise<void>;
}

export async function readManifest(source: Source, digest?: string): Promise<Buffer> {
  const bytes = await source.manifest(digest);
  const wanted = digest ?? source.pinned;
  if (wanted === undefined || digestOf(bytes) === wanted) return bytes;
  throw new Failure(`Manifest does not match provided manifest digest ${wanted}`);
}

export async function copyImage(source: Source, destination: Destination, all: boolean): Promise<void> {
  const bytes = await during(`initializing source ${source.name}`, readManifest(source));
  const list = referencesOf(bytes)?.manifests ?? [];
  if (list.length > 0 && !all) throw new Failure('one architecture of several is not stood for here: copy takes --all');
  for (const [index, digest] of list.entries()) {
    const what = `copying image ${index + 1}/${list.length} from manifest list`;
    await during(what, copyOne(source, destination, await readManifest(source, digest), digest));
  }
  await copyOne(source, destination, bytes);
}

async function copyOne(source: Source, destination: Destination, bytes: Buffer, digest?: string): Promise<void> {
  const references = referencesOf(bytes);
  if (references === undefined) throw new Failure('unsupported manifest type: neither an image nor a list of images');
  mustBePacked(bytes);
  for (const blob of new Set(references.blobs)) {
    if (await during(`trying to reuse blob ${blob} at destination`, destination.hasBlob(blob))) continue;
    const content = await during(`reading blob ${blob}`, source.blob(blob));
    await during('writing blob', destination.putBlob(blob, content));
  }
  await during('writing manifest', destination.putManifest(bytes, digest));
}

/** skopeo compresses an uncompressed layer on its way to a registry, and that changes the image. */
function mustBePacked(manifest: Buffer): void {
  const { layers = [] } = JSON.parse(manifest.toString('utf8')) as { layers?: readonly { mediaType?: string }[] };
  if (!layers.some(({ mediaType }) => mediaType?.endsWith('.tar'))) return;
  throw new Failure('packing a layer on its way is not stood for here: the layers of the image are to be gzip or zstd');
}
