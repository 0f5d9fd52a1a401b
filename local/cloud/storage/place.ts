/** Puts a file into a bucket as it lies on the disk, so that a large one need not be read and sent. */
import type { World } from '../kernel/api.js';
import type { Checksums } from '../kernel/media.js';
import { linkedContent } from './contents.js';
import { findBucket, newObject, objects } from './objects.js';

export interface PlacedFile {
  readonly bucket: string;
  readonly name: string;
  /** Its path. What lies there is never changed in its place. */
  readonly file: string;
  readonly checksums: Checksums;
}

/** Leaves an object that is there already. */
export function placeFile(world: World, { bucket, name, file, checksums }: PlacedFile): void {
  findBucket(world, bucket);
  const told = { bucket, name, contentType: 'application/octet-stream' };
  objects(world)[`${bucket}/${name}`] ??= newObject(world, told, linkedContent(world, file, checksums));
}
