/**
 * Copies the images of a package to the registry that the config names, from the package or from another registry. An image
 * that is there with the same digest isn't copied again.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { isLoopback } from '../../shared/loopback.js';
import type { InstallEvent } from '../../shared/package/install-event.js';
import type { PackageManifest } from '../../shared/package/manifest.js';
import { Problem } from '../../shared/problems.js';
import { sha256 } from '../../shared/sha256.js';
import type { Settings } from '../settings.js';
import type { InstallInputs } from './inputs.js';
import { createRegistryLogin, type RegistryLogin } from './registry-login.js';
import { createSkopeo, type Place, type Skopeo } from './skopeo.js';

export interface ImagesOptions {
  /** URL of a registry that has the images which the package lacks. */
  readonly from: URL | undefined;
  /** Copies nothing. */
  readonly onlyLook: boolean;
  readonly settings: Pick<Settings, 'env' | 'runtimeFolder'>;
  readonly onEvent: (event: InstallEvent) => void;
  readonly signal: AbortSignal;
}

export interface ImagesReport {
  readonly registry: string;
  readonly images: readonly { readonly name: string; readonly tag: string; readonly digest: string }[];
  readonly missing: readonly string[];
  readonly copied: number;
  readonly bytes: number;
}

type Image = PackageManifest['images'][number];

const looksAtOnce = 4;

/** Throws if an image is missing and cannot be copied, or has another digest after the copy. */
export async function bringImages(inputs: InstallInputs, options: ImagesOptions): Promise<ImagesReport> {
  const { registry } = inputs.config;
  if (registry.type === 'forge1') {
    throw new Problem('bad-input', `Nodes pull from ${registry.server} themselves: nothing is to be copied there.`);
  }
  const login = createRegistryLogin(inputs, options.settings.env, options.settings.runtimeFolder);
  try {
    return await bring(inputs, options, login);
  } finally {
    login.end();
  }
}

async function bring(inputs: InstallInputs, options: ImagesOptions, login: RegistryLogin): Promise<ImagesReport> {
  const { package: unpacked, config } = inputs;
  const { server } = config.registry;
  const { images } = unpacked.manifest;
  const skopeo = createSkopeo(options.settings.env, options.signal);
  const placeOf = async ({ name, tag }: Image): Promise<Place> => ({
    reference: `docker://${server}/${name}:${tag}`,
    authFile: await login.authFile(),
    isPlain: isLoopback(new URL(`https://${server}`).hostname),
  });
  const stands = async (image: Image): Promise<boolean> => {
    const raw = await skopeo.raw(await placeOf(image)).catch((error: unknown) => {
      options.signal.throwIfAborted();
      // Missing or unreachable. The copy will show which.
      if (error instanceof Problem) return undefined;
      throw error;
    });
    return raw !== undefined && digestOf(raw) === image.digest;
  };

  await login.authFile();
  const there = new Set<Image>();
  for (let from = 0; from < images.length; from += looksAtOnce) {
    const some = images.slice(from, from + looksAtOnce);
    const found = await Promise.all(some.map(stands));
    for (const [position, image] of some.entries()) if (found[position]) there.add(image);
  }
  const missing = images.filter((image) => !there.has(image));
  const named = images.map(({ name, tag, digest }) => ({ name, tag, digest }));
  const report = { registry: server, images: named, missing: [] as string[] };
  if (missing.length === 0) return { ...report, copied: 0, bytes: 0 };
  if (options.onlyLook) return { ...report, missing: missing.map(nameOf), copied: 0, bytes: 0 };

  const sources = new Map(missing.map((image) => [image, sourceOf(image, inputs, options.from, skopeo)]));
  const share = await sharesOf(sources);
  const total = [...share.values()].reduce((sum, bytes) => sum + bytes, 0);
  let [done, bytes] = [there.size, 0];
  const tell = (): void =>
    options.onEvent({ type: 'images', done, total: images.length, bytes, totalBytes: total, registry: server });
  tell();
  for (const [image, { place }] of sources) {
    await skopeo.copy(place, await placeOf(image));
    const digest = digestOf(await skopeo.raw(await placeOf(image)));
    if (digest !== image.digest) {
      throw new Problem(
        'install-failed',
        `${server}/${nameOf(image)} is ${digest}, and the package says ${image.digest}.`,
        { advice: 'Get the package anew; if it is the same, tell who made it.' },
      );
    }
    done += 1;
    bytes += share.get(image) ?? 0;
    tell();
  }
  return { ...report, copied: missing.length, bytes };
}

const nameOf = ({ name, tag }: Image): string => `${name}:${tag}`;
const digestOf = (raw: Buffer): string => `sha256:${sha256(raw)}`;

interface Source {
  readonly place: Place;
  /** Returns a manifest of this image by its digest. */
  manifest(digest: string): Promise<Buffer>;
}

function sourceOf(image: Image, inputs: InstallInputs, from: URL | undefined, skopeo: Skopeo): Source {
  const { hasImages, folder: packageFolder } = inputs.package;
  if (hasImages) {
    const folder = join(packageFolder, image.path);
    return {
      place: { reference: `oci:${folder}:${image.tag}` },
      manifest: (digest) => readFile(join(folder, 'blobs', ...digest.split(':'))),
    };
  }
  if (from === undefined) {
    throw new Problem('bad-input', `The image ${nameOf(image)} is not in this package.`, {
      advice: 'Take installer.tar.gz, which has the images, or name a registry that has them with --from.',
    });
  }
  // By digest, because a tag can be moved at any time.
  const placeOf = (digest: string): Place => ({
    reference: `docker://${from.host}/${image.name}@${digest}`,
    isPlain: from.protocol === 'http:',
  });
  return { place: placeOf(image.digest), manifest: (digest) => skopeo.raw(placeOf(digest)) };
}

const Blob = z.object({ digest: z.string().regex(/^sha256:[0-9a-f]{64}$/), size: z.int().min(0) });
/** The manifest of an image or of a list of images, in OCI's form or Docker's. */
const Manifest = z.object({
  config: Blob.optional(),
  layers: z.array(Blob).default([]),
  manifests: z.array(Blob).default([]),
});

async function blobsOf(manifest: Source['manifest'], digest: string): Promise<z.infer<typeof Blob>[]> {
  const raw = await manifest(digest);
  if (digestOf(raw) !== digest) throw new Problem('install-failed', `What is there as ${digest} is something else.`);
  const { config, layers, manifests } = Manifest.parse(JSON.parse(raw.toString()));
  const beneath = await Promise.all(manifests.map((each) => blobsOf(manifest, each.digest)));
  return [...(config === undefined ? [] : [config]), ...layers, ...beneath.flat()];
}

/** How many bytes each image adds to the earlier ones. Blobs that images share are copied once. */
async function sharesOf(sources: ReadonlyMap<Image, Source>): Promise<ReadonlyMap<Image, number>> {
  const known = new Set<string>();
  const shares = new Map<Image, number>();
  for (const [image, { manifest }] of sources) {
    let share = 0;
    for (const { digest, size } of await blobsOf(manifest, image.digest)) {
      if (known.has(digest)) continue;
      known.add(digest);
      share += size;
    }
    shares.set(image, share);
  }
  return shares;
}
