/** What a registry holds, as the protocol sees it. Implemented by the registries that stand for others, and asked by what stands for skopeo; a push is checked here. */
import { sha256 } from '../../shared/sha256.js';

export interface Manifest {
  readonly digest: string;
  readonly type: string;
  readonly bytes: Buffer;
}

export interface Images {
  /** `reference`: tag or digest. */
  manifest(image: string, reference: string): Promise<Manifest | undefined> | Manifest | undefined;
  blob(image: string, digest: string): Promise<Buffer | undefined> | Buffer | undefined;
  /** Undefined: there is no such image. */
  tags(image: string): Promise<readonly string[] | undefined> | readonly string[] | undefined;
  putBlob(image: string, digest: string, bytes: Buffer): Promise<void> | void;
  /** `tag`: undefined where it is pushed by its digest. */
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

/** What a manifest names: an image's config and layers, an index's manifests. Undefined: it is no manifest. */
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

/** What a manifest says that it is; OCI's lets it be seen by its fields. */
export function mediaTypeOf(manifest: Buffer): string {
  const { mediaType, manifests } = JSON.parse(manifest.toString('utf8')) as ManifestContent;
  const kind = manifests === undefined ? 'manifest' : 'index';
  return typeof mediaType === 'string' ? mediaType : `application/vnd.oci.image.${kind}.v1+json`;
}
