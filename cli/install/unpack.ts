/** Unpacks a package's archive into a folder: once, completely or not at all. Every file is checked against its digest. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, lstatSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Unpack } from 'tar';
import { mostUnpacked, type PackageManifest, readPackageManifest } from '../../shared/package/manifest.js';
import { Problem } from '../../shared/problems.js';
import { sha256 } from '../../shared/sha256.js';
import { makeSecretFolder, withRegularFile } from '../files/files.js';

export interface UnpackedPackage {
  readonly folder: string;
  readonly manifest: PackageManifest;
  /** False for installer-lite. */
  readonly hasImages: boolean;
}

/**
 * Unpacks into `<packages>/<first digits of the archive's SHA-256>`. `Problem` bad-input if the archive is damaged or no
 * package.
 */
export async function unpackPackage(archive: string, packages: string, signal: AbortSignal): Promise<UnpackedPackage> {
  withRegularFile(archive, () => undefined);
  makeSecretFolder(packages);
  const folder = join(packages, (await hashOf(archive, signal)).slice(0, 40));
  if (existsSync(folder)) return verified(folder);
  for (const left of readdirSync(packages).filter((name) => name.startsWith('.unpacking-'))) {
    rmSync(join(packages, left), { recursive: true, force: true });
  }
  const temporary = mkdtempSync(join(packages, '.unpacking-'));
  try {
    await extractInto(temporary, archive, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw damaged(`it cannot be unpacked: ${error instanceof Error ? error.message : String(error)}`);
    });
    const { manifest, hasImages } = await verified(temporary);
    signal.throwIfAborted();
    // Another datacenter's installer may have been faster.
    if (!existsSync(folder)) renameSync(temporary, folder);
    return { folder, manifest, hasImages };
  } finally {
    // Entries that were read before one was refused are still written: thousands, and on a slow disk for seconds. What they
    // leave, the next unpacking removes. So a failure here never takes the place of the reason.
    await rm(temporary, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 }).catch(() => undefined);
  }
}

/** So that little is unpacked before the ratio is looked at again. */
const chunkBytes = 64 * 1024;

async function extractInto(folder: string, archive: string, signal: AbortSignal): Promise<void> {
  let entries = 0;
  const unpack = new Unpack({
    cwd: folder,
    // The library would otherwise only warn about a path that leads out or a truncated archive, and skip it.
    strict: true,
    preserveOwner: false,
    maxDecompressionRatio: mostUnpacked.ratio,
    filter() {
      entries += 1;
      if (entries === mostUnpacked.entries + 1)
        unpack.abort(new Error(`it has more than ${mostUnpacked.entries} entries`));
      return entries <= mostUnpacked.entries;
    },
  });
  const closed = new Promise<void>((resolve, reject) => {
    unpack.once('close', resolve);
    // Writes that are under way fail later, too.
    unpack.on('error', (error: Error) =>
      reject(/decompression ratio/.test(error.message) ? new Error(tooLarge) : error),
    );
  });
  // It may fail while the archive is read.
  closed.catch(() => undefined);
  for await (const chunk of createReadStream(archive, { highWaterMark: chunkBytes, signal })) {
    const drained = new Promise<void>((resolve) => unpack.once('drain', resolve));
    if (!unpack.write(chunk as Buffer)) await Promise.race([drained, closed]);
  }
  unpack.end();
  await closed;
}

const tooLarge = `what is in it is more than ${mostUnpacked.ratio} times as large`;

/** A package that was unpacked earlier. Undefined if it is gone or damaged. */
export const standingPackage = (folder: string): Promise<UnpackedPackage | undefined> =>
  verified(folder).catch(() => undefined);

async function verified(folder: string): Promise<UnpackedPackage> {
  const text = await readManifest(join(folder, 'package.json'));
  if (text === undefined) throw damaged('there is no package.json in it');
  const manifest = readPackageManifest(text.toString());
  const listed = new Map(manifest.files.map((file) => [file.path, file]));
  const found = filesIn(folder);
  const faults: string[] = [];
  for (const path of found) {
    if (path === 'package.json' || path.startsWith('images/')) continue;
    const file = listed.get(path);
    if (file === undefined) {
      faults.push(`${path} is not named in its package.json`);
      continue;
    }
    if ((await hashOf(join(folder, path))) !== file.sha256) faults.push(`${path} is not what its package.json says`);
    const runs = (lstatSync(join(folder, path)).mode & 0o100) !== 0;
    if (runs !== file.executable) faults.push(`${path} is ${runs ? '' : 'not '}executable`);
  }
  const there = new Set(found);
  faults.push(...[...listed.keys()].filter((path) => !there.has(path)).map((path) => `${path} is missing`));
  const hasImages = found.some((path) => path.startsWith('images/'));
  if (hasImages) for (const image of manifest.images) faults.push(...(await imageFaults(folder, image)));
  if (faults.length > 0) throw damaged(faults.slice(0, 10).join('; '));
  return { folder, manifest, hasImages };
}

/** Undefined: there is no such file. */
async function readManifest(path: string): Promise<Buffer | undefined> {
  const bytes = lstatSync(path, { throwIfNoEntry: false })?.size;
  if (bytes === undefined) return undefined;
  if (bytes > mostUnpacked.manifestBytes) throw damaged(`its ${basename(path)} is larger than 4 MiB`);
  return readFile(path).catch(() => undefined);
}

/** Files may be larger than memory. */
async function hashOf(path: string, signal = new AbortController().signal): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash, { signal });
  return hash.digest('hex');
}

/**
 * The layout names and holds the manifest. Other blobs are named by their digests, which are verified when they are copied.
 */
async function imageFaults(folder: string, { name, path, digest }: PackageManifest['images'][number]) {
  const blob = await readManifest(join(folder, path, 'blobs', 'sha256', digest.slice('sha256:'.length)));
  if (blob === undefined) return [`the image ${name} is missing`];
  return `sha256:${sha256(blob)}` === digest ? [] : [`the manifest of the image ${name} is not what package.json says`];
}

/** Lists files by path. A link or a device in a package is refused. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return [];
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1);
    if (!entry.isFile()) throw damaged(`${path} is neither a file nor a folder`);
    return [path];
  });
}

const damaged = (detail: string): Problem =>
  new Problem('bad-input', `The package cannot be used: ${detail}.`, { advice: 'Get the package anew.' });
