/**
 * Reads the file of `--install-local` to its end before any request to the service. Otherwise a wrong file would be found much
 * later, on the jumpbox, which has paid for machines by then and verifies the package again.
 */
import { createHash } from 'node:crypto';
import { createReadStream, readSync, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import type { GivenFlags } from '../../shared/bootstrap/options.js';
import {
  archiveFor,
  mostUnpacked,
  type PackageManifest,
  packageMismatches,
  readPackageManifest,
} from '../../shared/package/manifest.js';
import { Problem } from '../../shared/problems.js';
import { reason, withRegularFile } from './files.js';

interface LocalPackage {
  /** Why the file is no package. Undefined if nothing speaks against it. */
  readonly fault?: string;
  /** How it differs from what other flags ask for. */
  readonly mismatches: readonly string[];
}

export async function examinePackage(path: string, given: GivenFlags): Promise<LocalPackage> {
  const refused = (fault: string): LocalPackage => ({ fault, mismatches: [] });
  try {
    if (!isGzip(path)) return refused(`it is no gzip archive; ${wanted}`);
    const content = await contentOf(path);
    if (content.manifest === undefined) return refused(`it has no package.json; ${wanted}`);
    if (!isManifest(content.manifest)) return refused(`its package.json is no manifest of a package; ${wanted}`);
    const manifest = readPackageManifest(content.manifest);
    const faults = contentFaults(content, manifest);
    if (faults.length > 0) return refused(`it is damaged: ${faults.slice(0, 10).join('; ')}; ${wanted}`);
    return { mismatches: mismatchesOf(content, manifest, given) };
  } catch (error) {
    if (error instanceof Problem) return refused(`${error.detail} ${error.advice}`);
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (code === 'Z_BUF_ERROR') return refused(`it is cut off; ${wanted}`);
    if (code.startsWith('Z_')) return refused(`it is damaged: ${message}; ${wanted}`);
    if (error instanceof TooLarge) return refused(`${error.message}; ${wanted}`);
    return refused(error instanceof NoTar ? `it is no tar archive in gzip; ${wanted}` : reason(error));
  }
}

const wanted = 'an installer package, such as installer.tar.gz, is wanted';

class NoTar extends Error {}
class TooLarge extends Error {}

interface Content {
  manifest?: string;
  /** By path, without package.json and images. */
  readonly files: Map<string, { readonly sha256: string; readonly executable: boolean }>;
  /** Their digests name them. */
  readonly images: Set<string>;
}

function contentFaults({ files, images }: Content, manifest: PackageManifest): string[] {
  const listed = new Map(manifest.files.map((file) => [file.path, file]));
  const faults = [...files].flatMap(([path, { sha256, executable }]) => {
    const file = listed.get(path);
    if (file === undefined) return [`${path} is not named in its package.json`];
    if (file.sha256 !== sha256) return [`${path} is not what its package.json says`];
    return file.executable === executable ? [] : [`${path} is ${executable ? '' : 'not '}executable`];
  });
  faults.push(...[...listed.keys()].filter((path) => !files.has(path)).map((path) => `${path} is missing`));
  if (images.size === 0) return faults;
  const lacking = manifest.images.filter(
    ({ path, digest }) => !images.has(`${path}/blobs/sha256/${digest.slice('sha256:'.length)}`),
  );
  return [...faults, ...lacking.map(({ name }) => `the image ${name} is missing`)];
}

function mismatchesOf({ images }: Content, manifest: PackageManifest, given: GivenFlags): string[] {
  const asked = packageMismatches(given, manifest).map(({ path, message }) => `${path} ${message}`);
  const lacksImages = archiveFor(given) === 'full' && manifest.images.length > 0 && images.size === 0;
  const flag = given.airgapped === true ? '--airgapped' : `--registry-type ${given.registryType}`;
  return lacksImages
    ? [...asked, `it holds no images, and ${flag} needs them. Give installer.tar.gz, not installer-lite.tar.gz`]
    : asked;
}

const isGzip = (path: string): boolean =>
  withRegularFile(path, (file) => {
    const bytes = Buffer.alloc(2);
    readSync(file, bytes, 0, 2, 0);
    return bytes[0] === 0x1f && bytes[1] === 0x8b;
  });

/** Keeps of each file its digest alone, since an archive may be larger than memory. */
async function contentOf(path: string): Promise<Content> {
  const parser = new Parser({ strict: true });
  const content: Content = { files: new Map(), images: new Set() };
  let fault: unknown;
  let entries = 0;
  parser.on('error', (error) => {
    fault ??= error;
  });
  parser.on('entry', (entry: ReadEntry) => {
    entries += 1;
    if (entries > mostUnpacked.entries) fault ??= new TooLarge(`it has more than ${mostUnpacked.entries} entries`);
    fault ??= readEntry(entry, content);
    entry.resume();
  });
  const most = statSync(path).size * mostUnpacked.ratio;
  let bytes = 0;
  let refusal: Error | undefined;
  let isRead = false;
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
    }
    parser.end();
    check();
    isRead = true;
  }).catch((error: unknown) => {
    // The pipeline may tell instead that it was aborted. It also does so for padding behind the end, which gzip ignores.
    if (!isRead) throw refusal ?? error;
  });
  return content;
}

/** Returns why this entry is refused. */
function readEntry(entry: ReadEntry, content: Content): TooLarge | undefined {
  const path = entry.path.replace(/^\.\//, '');
  if (entry.type === 'Directory') return undefined;
  if (path.startsWith('images/')) {
    content.images.add(path);
    return undefined;
  }
  if (path === 'package.json') {
    if (entry.size > mostUnpacked.manifestBytes) return new TooLarge('its package.json is larger than 4 MiB');
    const chunks: Buffer[] = [];
    entry.on('data', (chunk: Buffer) => void chunks.push(chunk));
    entry.on('end', () => {
      content.manifest = Buffer.concat(chunks).toString();
    });
    return undefined;
  }
  const hash = createHash('sha256');
  entry.on('data', (chunk: Buffer) => void hash.update(chunk));
  entry.on('end', () => {
    const executable = ((entry.mode ?? 0) & 0o100) !== 0;
    content.files.set(path, { sha256: hash.digest('hex'), executable });
  });
  return undefined;
}

function isManifest(text: string): boolean {
  try {
    const content: unknown = JSON.parse(text);
    return typeof content === 'object' && content !== null && 'components' in content;
  } catch {
    return false;
  }
}
