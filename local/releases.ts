/**
 * Where machines fetch the release of plinth from, locally: the one that `npm run build:binary` has laid out, if it has.
 * Started by the functions half.
 */
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { releaseFile, releaseFolder, sumIn, sumsFile } from '../shared/release.js';
import { listen } from './loopback.js';

export interface ReleaseServer {
  /** For PLINTH_RELEASES_URL. */
  readonly url: string;
  readonly sha256: string;
  close(): Promise<void>;
}

/** Undefined: no executable of this version is built. */
export async function startReleases(folder = join('dist', 'release')): Promise<ReleaseServer | undefined> {
  const sums = join(folder, releaseFolder, sumsFile);
  if (!existsSync(sums)) return undefined;
  const sha256 = sumIn(readFileSync(sums, 'utf8'), releaseFile);
  if (sha256 === undefined) throw new Error(`${sums} names no ${releaseFile}. Make it anew: npm run build:binary.`);
  const { url, close } = await listen((request, response) => {
    const name = [releaseFile, sumsFile].find((each) => request.url === `/${releaseFolder}/${each}`);
    if (name === undefined || !['GET', 'HEAD'].includes(request.method ?? '')) {
      response.writeHead(404).end();
      return;
    }
    const file = join(folder, releaseFolder, name);
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': statSync(file).size });
    if (request.method === 'HEAD') response.end();
    else pipeline(createReadStream(file), response, () => undefined);
  }, 0);
  return { url, sha256, close };
}
