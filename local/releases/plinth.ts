/** Serves the release of plinth to machines, locally: the one that `npm run build:binary` made, if there is one. */
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { releasePath, releaseSum, sumOfRelease } from '../../shared/release.js';
import { listen } from '../loopback.js';

export interface ReleaseServer {
  /** The address for PLINTH_RELEASES_URL. */
  readonly url: string;
  readonly sha256: string;
  close(): Promise<void>;
}

/** Undefined if no executable of this version is built. */
export async function startReleases(folder = join('dist', 'release')): Promise<ReleaseServer | undefined> {
  const sum = join(folder, releaseSum);
  const sha256 = existsSync(sum) ? sumOfRelease(readFileSync(sum, 'utf8')) : undefined;
  if (sha256 === undefined) return undefined;
  const path = releasePath(sha256);
  const file = join(folder, path);
  // An interrupted build may have left one file without the other.
  if (!existsSync(file)) return undefined;
  const { url, close } = await listen((request, response) => {
    // Another build removes the file.
    if (request.url !== `/${path}` || !['GET', 'HEAD'].includes(request.method ?? '') || !existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': statSync(file).size });
    if (request.method === 'HEAD') response.end();
    else pipeline(createReadStream(file), response, () => undefined);
  }, 0);
  return { url, sha256, close };
}
