/**
 * The content of a registry, as the protocol sees it. Each stand-in for a registry implements this, and the stand-in for
 * skopeo reads it. Pushes are checked here.
 */
import { sha256 } from '../../shared/sha256.js';

export interface Manifest {
  readonly digest: string;
  readonly type: string;
  readonly bytes: Buffer;
}

export interface Images {
  /** `reference` is a tag or a digest. */
  manifest(image: string, reference: string): Promise<Manifest | undefined> | Manifest | undefined;
  blob(image: string, digest: string): Promise<Buffer | undefined> | Buffer | undefined;
  /** Undefined if there is no such image. */
  tags(image: string): Promise<readonly string[] | undefined> | readonly string[] | undefined;
  putBlob(image: string, digest: string, bytes: Buffer): Promise<void> | void;
  /** `tag` is undefined for a push by digest. */
  putManifest(image: string, manifest: Manifest, tag: string | undefined): Promise<void> | void;
}

export const digestOf = (bytes: Buffer): string => `sha256:${sha256(bytes)}`;
export const isDigest = (reference: string): boolean => /^sha256:[0-9a-f]{64}$/.test(reference);

interface Named {
  readonly digest?: unknown;
}
interface ManifestContent {
  readonly mediaType?: unknown;
  readonly config?: Named;
  readonly layers?: readonly Named[];
  readonly manifests?: readonly Named[];
}

/**
 * The references of a manifest: config and layers of an image, manifests of an index. Undefined if the bytes are no manifest.
 */
export function referencesOf(bytes: Buffer): { readonly blobs: string[]; readonly manifests: string[] } | undefined {
  let content: ManifestContent;
  try {
    content = JSON.parse(bytes.toString('utf8')) as ManifestContent;
  } catch {
    return undefined;
  }
  const { config, layers, manifests } = content;
  if (manifests === undefined && (config === undefined || layers === undefined)) return undefined;
  const blobs = [...(layers ?? []), ...(config === undefined ? [] : [config])].map(({ digest }) => String(digest));
  return { blobs, manifests: (manifests ?? []).map(({ digest }) => String(digest)) };
}

/** The media type of a manifest. OCI lets manifests omit it, so its fields decide then. */
export function mediaTypeOf(manifest: Buffer): string {
  const { mediaType, manifests } = JSON.parse(manifest.toString('utf8')) as ManifestContent;
  const kind = manifests === undefined ? 'manifest' : 'index';
  return typeof mediaType === 'string' ? mediaType : `application/vnd.oci.image.${kind}.v1+json`;
}
