/** Requests and replies about bytes, which Cloud Storage has beside those about JSON. */
import type { IncomingMessage } from 'node:http';
import type { ApiRequest } from './kernel.js';

export interface MediaRequest {
  readonly request: ApiRequest;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
  /** Whether the connection broke before all of them came. */
  readonly isCut?: boolean;
  /** The address that the client used. The session of a resumable upload repeats it. */
  readonly origin: string;
}

/** A reply with headers and bytes instead of JSON. */
export interface MediaReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string | FilePart;
}

/** Bytes of a file from `first` to `last`, which is one of them. */
export interface FilePart {
  readonly path: string;
  readonly first: number;
  readonly last: number;
}
