/** Where the bytes of objects are: small ones in the state, large ones in files beside it, as the state is written often. */
import { createHash } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  createReadStream,
  existsSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { World } from '../kernel/api.js';
import type { Checksums, Content, FilePart } from '../kernel/media.js';
import { crc32c } from './crc32c.js';

const largestInState = 4 * 1024 * 1024;
const folders = new WeakMap<World, string>();

function folderOf(world: World): string {
  const known = folders.get(world);
  if (known === undefined) throw new Error('no folder holds the large objects of this world');
  return known;
}

/** Opens the folder of large objects: the given one, which stays, or a temporary one. Returns what ends its use. */
export function keepContents(world: World, given: string | undefined): () => void {
  const folder = given ?? mkdtempSync(join(tmpdir(), 'plinth-objects-'));
  folders.set(world, folder);
  const holders = ['storage.objects', 'storage.uploads'].flatMap((name) =>
    Object.values(world.table<Partial<Content>>(name)),
  );
  const held = new Set(holders.map(({ file }) => file));
  if (existsSync(folder)) for (const file of readdirSync(folder)) if (!held.has(file)) rmSync(join(folder, file));
  return () => {
    if (given === undefined) rmSync(folder, { recursive: true, force: true });
  };
}

function createSums() {
  const md5 = createHash('md5');
  let [size, crc] = [0, 0];
  return {
    add(bytes: Buffer): void {
      md5.update(bytes);
      crc = crc32c(bytes, crc);
      size += bytes.length;
    },
    all(): Checksums {
      const checksum = Buffer.alloc(4);
      checksum.writeUInt32BE(crc);
      return { size, md5Hash: md5.digest('base64'), crc32c: checksum.toString('base64') };
    },
  };
}

export function checksumsOf(bytes: Buffer): Checksums {
  const sums = createSums();
  sums.add(bytes);
  return sums.all();
}

/** Has `write` make the file that holds these bytes, unless it is there. It never changes, as others may be linked to it. */
function inFile(world: World, checksums: Checksums, write: (path: string) => void): Content {
  const file = Buffer.from(checksums.md5Hash, 'base64').toString('hex');
  const path = join(folderOf(world), file);
  if (!existsSync(path)) {
    mkdirSync(folderOf(world), { recursive: true });
    rmSync(`${path}.new`, { force: true });
    write(`${path}.new`);
    renameSync(`${path}.new`, path);
  }
  return { ...checksums, data: '', file };
}

export function storedContent(world: World, bytes: Buffer): Content {
  const checksums = checksumsOf(bytes);
  return bytes.length <= largestInState
    ? { ...checksums, data: bytes.toString('base64') }
    : inFile(world, checksums, (path) => writeFileSync(path, bytes));
}

/** Writes bytes of an upload at this place of its file. What was behind them is cut off. */
export function writeUpload(world: World, file: string, at: number, bytes: Buffer): void {
  mkdirSync(folderOf(world), { recursive: true });
  const path = join(folderOf(world), file);
  const handle = openSync(path, existsSync(path) ? 'r+' : 'w');
  try {
    ftruncateSync(handle, at);
    for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done, bytes.length - done, at + done);
  } finally {
    closeSync(handle);
  }
}

export const forgetUpload = (world: World, file: string): void => rmSync(join(folderOf(world), file), { force: true });

/** Reads the file of an upload to its end. Then the returned function keeps it as content. */
export async function endedUpload(world: World, file: string): Promise<() => Content> {
  const path = join(folderOf(world), file);
  const sums = createSums();
  for await (const bytes of createReadStream(path, { highWaterMark: largestInState })) sums.add(bytes as Buffer);
  const checksums = sums.all();
  return () =>
    checksums.size <= largestInState
      ? storedContent(world, readFileSync(path))
      : inFile(world, checksums, (kept) => linkSync(path, kept));
}

/** The content of a file that is never changed in its place. It is linked, unless it is on another disk. */
export const linkedContent = (world: World, source: string, checksums: Checksums): Content =>
  inFile(world, checksums, (path) => {
    try {
      linkSync(source, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
      copyFileSync(source, path);
    }
  });

/** The bytes from `first` to `last`: themselves, or where they are. */
export const partOf = (world: World, { data, file }: Content, first: number, last: number): Buffer | FilePart =>
  file === undefined
    ? Buffer.from(data, 'base64').subarray(first, last + 1)
    : { path: join(folderOf(world), file), first, last };

export const bytesOf = (world: World, { data, file }: Pick<Content, 'data' | 'file'>): Buffer =>
  file === undefined ? Buffer.from(data, 'base64') : readFileSync(join(folderOf(world), file));
