/** Puts the release of plinth into its bucket, as whoever releases does: the one that `npm run build:binary` made, if there is one. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { releasePath, releaseSum, sumOfRelease } from '../../shared/release.js';
import type { SimulatedCloud } from '../cloud/index.js';
import { local } from '../stack/deployment.js';
import { asAdmin, makeBucket } from '../stack/resources.js';

export interface PublishedRelease {
  /** For PLINTH_RELEASES_URL. */
  readonly url: string;
  readonly sha256: string;
}

/** Undefined if no executable of this version is built. */
export async function publishRelease(
  cloud: Pick<SimulatedCloud, 'endpoints' | 'identity'>,
  folder = join('dist', 'release'),
): Promise<PublishedRelease | undefined> {
  const sum = join(folder, releaseSum);
  const sha256 = existsSync(sum) ? sumOfRelease(readFileSync(sum, 'utf8')) : undefined;
  if (sha256 === undefined) return undefined;
  const file = join(folder, releasePath(sha256));
  // An interrupted build may have left one file without the other.
  if (!existsSync(file)) return undefined;
  await makeBucket(cloud, local.releaseBucket);
  const { storage } = cloud.endpoints;
  const name = encodeURIComponent(`${local.releaseFolder}/${releasePath(sha256)}`);
  const objects = `${local.releaseBucket}/o`;
  if ((await asAdmin(cloud, 'GET', `${storage}/storage/v1/b/${objects}/${name}`)) === 404) {
    const to = `${storage}/upload/storage/v1/b/${objects}?uploadType=media&name=${name}`;
    await asAdmin(cloud, 'POST', to, new Uint8Array(readFileSync(file)));
  }
  return { url: `gs://${local.releaseBucket}/${local.releaseFolder}`, sha256 };
}
