/** Where the bytes of objects are: small ones in the state, large ones in files beside it, as the state is written often. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { World } from '../kernel/api.js';
import { crc32c } from './crc32c.js';

/** What an object's record tells of its bytes. */
export interface Content {
  /** Base64, because the state is JSON. `''` if a file holds the bytes. */
  data: string;
  /** The name of that file. */
  file?: string;
  size: number;
  /** In base64, as is `crc32c`. */
  md5Hash: string;
  crc32c: string;
}

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
  const held = new Set(Object.values(world.table<Partial<Content>>('storage.objects')).map(({ file }) => file));
  if (existsSync(folder)) for (const file of readdirSync(folder)) if (!held.has(file)) rmSync(join(folder, file));
  return () => {
    if (given === undefined) rmSync(folder, { recursive: true, force: true });
  };
}

export function storedContent(world: World, bytes: Buffer): Content {
  const md5Hash = createHash('md5').update(bytes).digest('base64');
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32c(bytes));
  const told = { size: bytes.length, md5Hash, crc32c: checksum.toString('base64') };
  if (bytes.length <= largestInState) return { ...told, data: bytes.toString('base64') };
  const file = Buffer.from(md5Hash, 'base64').toString('hex');
  mkdirSync(folderOf(world), { recursive: true });
  writeFileSync(join(folderOf(world), file), bytes);
  return { ...told, data: '', file };
}

export const bytesOf = (world: World, { data, file }: Pick<Content, 'data' | 'file'>): Buffer =>
  file === undefined ? Buffer.from(data, 'base64') : readFileSync(join(folderOf(world), file));
