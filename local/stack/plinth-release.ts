/** Puts the release of plinth into its bucket, as whoever releases does: the one that `npm run build:binary` made, if there is one. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { releasePath, releaseSum, sumOfRelease } from '../../shared/release.js';
import type { SimulatedCloud } from '../cloud/index.js';
import type { Checksums } from '../cloud/kernel/media.js';
import { checksumsOf } from '../cloud/storage/contents.js';
import { writeWhole } from '../whole-file.js';
import { local } from './deployment.js';
import { makeBucket } from './resources.js';

export interface PublishedRelease {
  /** For PLINTH_RELEASES_URL. */
  readonly url: string;
  readonly sha256: string;
}

/** Undefined if no executable of this version is built. */
export async function publishRelease(
  cloud: Pick<SimulatedCloud, 'endpoints' | 'identity' | 'placeFile'>,
  folder = join('dist', 'release'),
): Promise<PublishedRelease | undefined> {
  const sum = join(folder, releaseSum);
  const sha256 = existsSync(sum) ? sumOfRelease(readFileSync(sum, 'utf8')) : undefined;
  if (sha256 === undefined) return undefined;
  const path = releasePath(sha256);
  const file = join(folder, path);
  // An interrupted build may have left one file without the other.
  if (!existsSync(file)) return undefined;
  const { releaseBucket: bucket, releaseFolder } = local;
  await makeBucket(cloud, bucket);
  await cloud.placeFile({ bucket, name: `${releaseFolder}/${path}`, file, checksums: knownChecksums(file) });
  return { url: `gs://${bucket}/${releaseFolder}`, sha256 };
}

interface Known extends Checksums {
  readonly mtimeMs: number;
}

/** The file's checksums, which a file beside it keeps, as they take long to compute. */
function knownChecksums(file: string): Checksums {
  const beside = `${file}.checksums.json`;
  const { size, mtimeMs } = statSync(file);
  if (existsSync(beside)) {
    const { mtimeMs: at, ...known } = JSON.parse(readFileSync(beside, 'utf8')) as Known;
    if (at === mtimeMs && known.size === size) return known;
  }
  const checksums = checksumsOf(readFileSync(file));
  writeWhole(beside, `${JSON.stringify({ ...checksums, mtimeMs } satisfies Known)}\n`);
  return checksums;
}
