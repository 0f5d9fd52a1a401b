/** Writes an OCI image layout that skopeo, docker and podman take: layers, config, manifest, index, all named by their digests. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { sha256 } from '../../shared/sha256.js';
import { packed } from './archive.js';

export interface ImageContent {
  readonly tag: string;
  /** Each a folder of files; what comes later lies over what came before. */
  readonly layers: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

const media = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
} as const;
/** Dates would make each build another one. */
const created = '1970-01-01T00:00:00Z';

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** Returns the digest of the manifest. */
export async function writeImage(folder: string, { tag, layers, labels }: ImageContent): Promise<string> {
  const blobs = join(folder, 'blobs', 'sha256');
  mkdirSync(blobs, { recursive: true });
  const put = (content: Buffer, mediaType: string): Blob => {
    const digest = sha256(content);
    writeFileSync(join(blobs, digest), content);
    return { mediaType, digest: `sha256:${digest}`, size: content.length };
  };
  const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));

  const tars = await Promise.all(layers.map((layer) => packed(layer)));
  const config = put(
    json({
      created,
      architecture: 'amd64',
      os: 'linux',
      config: { Labels: labels },
      rootfs: { type: 'layers', diff_ids: tars.map((tar) => `sha256:${sha256(tar)}`) },
      history: layers.map(() => ({ created, created_by: 'plinth make-package' })),
    }),
    media.config,
  );
  const manifest = put(
    json({
      schemaVersion: 2,
      mediaType: media.manifest,
      config,
      layers: tars.map((tar) => put(gzipSync(tar, { level: 9 }), media.layer)),
    }),
    media.manifest,
  );
  const named = { ...manifest, annotations: { 'org.opencontainers.image.ref.name': tag } };
  writeFileSync(join(folder, 'index.json'), json({ schemaVersion: 2, mediaType: media.index, manifests: [named] }));
  writeFileSync(join(folder, 'oci-layout'), json({ imageLayoutVersion: '1.0.0' }));
  return manifest.digest;
}
