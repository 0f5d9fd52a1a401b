/**
 * Examines the file of `--install-local` before any request to the service. Otherwise a wrong file would be found much later,
 * on the jumpbox. The jumpbox verifies the content of the package when it unpacks it.
 */
import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import { mostUnpacked } from '../../shared/package/manifest.js';
import { reason } from './files.js';

/** Why the file is no package. Undefined if nothing speaks against it. */
export async function packageFault(path: string): Promise<string | undefined> {
  try {
    if (!isGzip(path)) return `it is no gzip archive; ${wanted}`;
    const manifest = await manifestIn(path);
    if (manifest === undefined) return `it has no package.json; ${wanted}`;
    return isManifest(manifest) ? undefined : `its package.json is no manifest of a package; ${wanted}`;
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (code === 'Z_BUF_ERROR') return `it is cut off; ${wanted}`;
    if (code.startsWith('Z_')) return `it is damaged: ${message}; ${wanted}`;
    if (error instanceof TooLarge) return `${error.message}; ${wanted}`;
    return error instanceof NoTar ? `it is no tar archive in gzip; ${wanted}` : reason(error);
  }
}

const wanted = 'an installer package, such as installer.tar.gz, is wanted';

class NoTar extends Error {}
class TooLarge extends Error {}

function isGzip(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(2);
    readSync(file, bytes, 0, 2, 0);
    return bytes[0] === 0x1f && bytes[1] === 0x8b;
  } finally {
    closeSync(file);
  }
}

/** Reads the archive only to the end of its package.json. */
async function manifestIn(path: string): Promise<string | undefined> {
  const parser = new Parser({ strict: true });
  let manifest: string | undefined;
  let fault: unknown;
  parser.on('error', (error) => {
    fault ??= error;
  });
  parser.on('entry', (entry: ReadEntry) => {
    if (entry.path !== 'package.json' && entry.path !== './package.json') return void entry.resume();
    if (entry.size > mostUnpacked.manifestBytes) {
      fault ??= new TooLarge('its package.json is larger than 4 MiB');
      return void entry.resume();
    }
    const chunks: Buffer[] = [];
    entry.on('data', (chunk: Buffer) => void chunks.push(chunk));
    entry.on('end', () => {
      manifest = Buffer.concat(chunks).toString();
    });
  });
  const most = statSync(path).size * mostUnpacked.ratio;
  let bytes = 0;
  let refusal: Error | undefined;
  const check = (): void => {
    if (fault !== undefined) refusal = fault instanceof TooLarge ? fault : new NoTar();
    else if (bytes > most) refusal = new TooLarge(`what is in it is more than ${mostUnpacked.ratio} times as large`);
    if (refusal !== undefined) throw refusal;
  };
  await pipeline(createReadStream(path), createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      parser.write(chunk);
      check();
      if (manifest !== undefined) return;
    }
    parser.end();
    check();
  }).catch((error: unknown) => {
    // The pipeline may tell instead that it was aborted.
    if (manifest === undefined) throw refusal ?? error;
  });
  return manifest;
}

function isManifest(text: string): boolean {
  try {
    const content: unknown = JSON.parse(text);
    return typeof content === 'object' && content !== null && 'components' in content;
  } catch {
    return false;
  }
}
