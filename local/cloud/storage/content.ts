/** The bytes of an object as Cloud Storage sends them. */
import type { World } from '../kernel/api.js';
import type { MediaReply } from '../kernel/media.js';
import { partOf } from './contents.js';
import { findObject } from './objects.js';

/** The bytes, or the requested range of them. */
export function contentOf(world: World, bucket: string, name: string, range: string | undefined): MediaReply {
  const object = findObject(world, bucket, name);
  const { size } = object;
  const headers = {
    'content-type': object.contentType,
    'accept-ranges': 'bytes',
    'x-goog-generation': object.generation,
    'x-goog-stored-content-length': String(size),
  };
  const part = (first: number, last: number) => ({
    headers: { ...headers, 'content-length': String(last - first + 1) },
    body: partOf(world, object, first, last),
  });
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
  // A range that ends before it begins is none.
  if (from === undefined || (to && Number(to) < Number(from))) return { status: 200, ...part(0, size - 1) };
  const [first, last] = [Number(from), Math.min(to ? Number(to) : size - 1, size - 1)];
  if (first >= size) return { status: 416, headers: { 'content-range': `bytes */${size}` }, body: '' };
  const sent = part(first, last);
  return { status: 206, ...sent, headers: { ...sent.headers, 'content-range': `bytes ${first}-${last}/${size}` } };
}
