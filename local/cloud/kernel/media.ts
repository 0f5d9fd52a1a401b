/** Bytes beside JSON: what the state keeps of them, and the shapes of a request and a reply about them. */
import type { IncomingMessage } from 'node:http';
import type { ApiRequest } from './kernel.js';

export interface Checksums {
  size: number;
  /** In base64, as is `crc32c`. */
  md5Hash: string;
  crc32c: string;
}

/** What an object's record tells of its bytes. */
export interface Content extends Checksums {
  /** Base64, because the state is JSON. `''` if a file holds the bytes. */
  data: string;
  /** The name of that file. */
  file?: string;
}

/** Bytes of a file from `first` to `last`, which is one of them. */
export interface FilePart {
  readonly path: string;
  readonly first: number;
  readonly last: number;
}

/** A reply with headers and bytes instead of JSON. */
export interface MediaReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string | FilePart;
}

export interface MediaRequest {
  readonly request: ApiRequest;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
  /** Whether the connection broke before all of them came. */
  readonly isCut?: boolean;
  /** The address that the client used. The session of a resumable upload repeats it. */
  readonly origin: string;
}
