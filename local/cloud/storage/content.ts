/** The bytes of an object as Cloud Storage sends them, and the shape of a request about bytes. */
import type { IncomingMessage } from 'node:http';
import type { World } from '../kernel/api.js';
import type { ApiRequest } from '../kernel/kernel.js';
import { bytesOf } from './contents.js';
import { findObject } from './objects.js';

/** A reply with headers and bytes instead of JSON. */
export interface MediaReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
}

export interface MediaRequest {
  readonly request: ApiRequest;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
  /** The address that the client used. The session of a resumable upload repeats it. */
  readonly origin: string;
}

/** The bytes, or the requested range of them. */
export function contentOf(world: World, bucket: string, name: string, range: string | undefined): MediaReply {
  const object = findObject(world, bucket, name);
  const bytes = bytesOf(world, object);
  const headers = {
    'content-type': object.contentType,
    'accept-ranges': 'bytes',
    'x-goog-generation': object.generation,
    'x-goog-stored-content-length': String(bytes.length),
  };
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
  if (from === undefined) return { status: 200, headers, body: bytes };
  const [first, last] = [Number(from), Math.min(to ? Number(to) : bytes.length - 1, bytes.length - 1)];
  if (first >= bytes.length) return { status: 416, headers: { 'content-range': `bytes */${bytes.length}` }, body: '' };
  const body = bytes.subarray(first, last + 1);
  return { status: 206, headers: { ...headers, 'content-range': `bytes ${first}-${last}/${bytes.length}` }, body };
}
