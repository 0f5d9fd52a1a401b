/**
 * Uploads and downloads of Cloud Storage: simple, multipart and resumable uploads, downloads with ranges, signed URLs. Each is
 * a call of the JSON API with bytes beside it.
 */
import { randomBytes } from 'node:crypto';
import type { Caller, JsonObject, Media, World } from '../kernel/api.js';
import { type ApiReply, authenticate, type Kernel } from '../kernel/kernel.js';
import { contentOf, type MediaReply, type MediaRequest } from './content.js';
import { answerSigned, isSigned } from './signed-urls.js';

interface Session {
  query: string;
  resource: string;
  type?: string;
  path: string;
  /** Who began it. The session's URI stands for their token. */
  caller: Caller;
  begunAt: number;
  /** What `X-Upload-Content-Length` said. */
  bytes?: number;
  received: string;
  /** The object that the upload became. */
  object?: JsonObject;
}

/** See https://cloud.google.com/storage/docs/resumable-uploads. */
const sessionDays = 7;
const largest = 512 * 1024 * 1024;
const uploads = /^(?:\/resumable)?\/upload(\/storage\/v1\/b\/[^/]+\/o)$/;

interface Parts {
  readonly kernel: Kernel;
  readonly world: World;
  readonly callerOf: (token: string) => Caller | undefined;
}

/** Undefined for an ordinary call of the API. */
export async function answerMedia(
  { kernel, world, callerOf }: Parts,
  asked: MediaRequest,
): Promise<MediaReply | ApiReply | undefined> {
  const { request, bytes } = asked;
  if (bytes.length > largest) return refused(413, 'The simulated Cloud Storage keeps objects of at most 512 MiB.');
  if (isSigned(request.query)) return answerSigned(world, asked);
  const upload = uploads.exec(request.path)?.[1];
  if (upload !== undefined) return receive({ kernel, world, callerOf }, asked, upload);
  const path = request.path.replace(/^\/download/, '');
  const wantsBytes = request.httpMethod === 'GET' && request.query.get('alt') === 'media';
  return wantsBytes ? send(kernel, world, { ...asked, request: { ...request, path } }) : undefined;
}

async function send(kernel: Kernel, world: World, { request, headers }: MediaRequest): Promise<MediaReply | ApiReply> {
  const reply = await kernel('storage', { ...request, body: '' });
  if (reply.kind !== 'json' || reply.status !== 200) return reply;
  return contentOf(world, String(reply.body['bucket']), String(reply.body['name']), headers.range);
}

async function receive(parts: Parts, asked: MediaRequest, path: string): Promise<MediaReply | ApiReply> {
  const { request, headers, bytes } = asked;
  const insert = (query: URLSearchParams, resource: string, media: Media, caller?: Caller) =>
    parts.kernel('storage', { ...request, httpMethod: 'POST', path, query, body: resource, media, caller });
  const session = request.query.get('upload_id');
  if (session !== null) return goOn(parts.world, session, asked, insert);
  const type = headers['content-type'];
  switch (request.query.get('uploadType')) {
    case 'media':
      return insert(request.query, '', { type, bytes });
    case 'multipart': {
      const parts = partsOf(bytes, type);
      if (parts === undefined) return refused(400, 'Multipart body must have two parts: metadata and media.');
      return insert(request.query, parts.resource, parts.media);
    }
    case 'resumable': {
      // Rights and conditions are asked for when it begins, too.
      const begun = await insert(request.query, bytes.toString('utf8'), {});
      return begun.kind === 'json' && begun.status === 200 ? begin(parts, asked, path) : begun;
    }
    default:
      return refused(400, 'uploadType must be media, multipart or resumable.');
  }
}

function begin(
  { world, callerOf }: Parts,
  { request, headers, bytes, origin }: MediaRequest,
  path: string,
): MediaReply {
  const id = randomBytes(24).toString('base64url');
  const kind = headers['x-upload-content-type']?.toString();
  const length = headers['x-upload-content-length']?.toString();
  const query = new URLSearchParams(request.query);
  query.delete('uploadType');
  sessions(world)[id] = {
    query: query.toString(),
    resource: bytes.toString('utf8'),
    ...(kind === undefined ? {} : { type: kind }),
    ...(length === undefined ? {} : { bytes: Number(length) }),
    path,
    caller: authenticate(request.authorization, callerOf),
    begunAt: world.now(),
    received: '',
  };
  const location = `${origin}${request.path}?uploadType=resumable&upload_id=${id}`;
  return { status: 200, headers: { location, 'x-guploader-uploadid': id }, body: '' };
}

const sessions = (world: World): Record<string, Session> => world.table<Session>('storage.uploads');

/** Takes a chunk of a resumable upload, or a question about its progress (`bytes * / N`, or `*` for N). */
async function goOn(
  world: World,
  id: string,
  { request, headers, bytes }: MediaRequest,
  insert: (query: URLSearchParams, resource: string, media: Media, caller: Caller) => Promise<ApiReply>,
): Promise<MediaReply | ApiReply> {
  const session = sessions(world)[id];
  if (session === undefined) return refused(404, 'The upload session does not exist.');
  if (world.now() - session.begunAt > sessionDays * 86_400_000) return refused(410, 'The upload session has expired.');
  if (request.httpMethod === 'DELETE') {
    delete sessions(world)[id];
    return { status: 499, headers: {}, body: '' };
  }
  if (session.object !== undefined) return { kind: 'json', status: 200, body: session.object };
  const held = Buffer.from(session.received, 'base64');
  const range = headers['content-range'];
  const [, first, last, total] = /^bytes (?:(\d+)-(\d+|\*)|\*)\/(\d+|\*)$/.exec(range ?? '') ?? [];
  if (range !== undefined && total === undefined) return refused(400, 'The Content-Range is malformed.');
  if (session.bytes !== undefined && total !== undefined && total !== '*' && Number(total) !== session.bytes) {
    return refused(400, `The upload was begun for ${session.bytes} bytes, not ${total}.`);
  }
  const begins = range === undefined ? 0 : first === undefined ? held.length : Number(first);
  if (begins > held.length) return refused(400, 'The chunk does not begin where the last one ended.');
  const all = Buffer.concat([held.subarray(0, begins), bytes]);
  session.received = all.toString('base64');
  // `bytes 0-*/*`: the length is unknown, and the upload ends with the request.
  const ends = range === undefined || (last === '*' && total === '*');
  if (!ends && total !== String(all.length)) {
    return { status: 308, headers: all.length === 0 ? {} : { range: `bytes=0-${all.length - 1}` }, body: '' };
  }
  const reply = await insert(
    new URLSearchParams(session.query),
    session.resource,
    { type: session.type, bytes: all },
    session.caller,
  );
  if (reply.kind === 'json' && reply.status === 200) Object.assign(session, { received: '', object: reply.body });
  return reply;
}

/** `multipart/related`: the resource as JSON, then the bytes. */
function partsOf(body: Buffer, type: string | undefined): { resource: string; media: Media } | undefined {
  const boundary = /boundary=(?:"([^"]+)"|'([^']+)'|([^;\s]+))/
    .exec(type ?? '')
    ?.slice(1)
    .find((each) => each !== undefined);
  if (boundary === undefined) return undefined;
  const mark = Buffer.from(`--${boundary}`);
  const starts: number[] = [];
  for (let at = body.indexOf(mark); at !== -1; at = body.indexOf(mark, at + mark.length)) starts.push(at);
  const [one, two, end] = starts;
  if (one === undefined || two === undefined || end === undefined) return undefined;
  const part = (from: number, to: number) => {
    const text = body.subarray(from + mark.length, to);
    const newline = text.subarray(0, 2).toString('latin1') === '\r\n' ? '\r\n' : '\n';
    const split = text.indexOf(newline + newline);
    return {
      headers: text.subarray(0, split).toString('latin1'),
      content: text.subarray(split + 2 * newline.length, text.length - newline.length),
    };
  };
  const [resource, media] = [part(one, two), part(two, end)];
  const kind = /^content-type:\s*(\S+)/im.exec(media.headers)?.[1];
  return { resource: resource.content.toString('utf8'), media: { type: kind, bytes: media.content } };
}

const refused = (status: number, message: string): ApiReply => ({
  kind: 'json',
  status,
  body: {
    error: { code: status, message, errors: [{ message, domain: 'global', reason: 'invalid' }] },
  } satisfies JsonObject,
});
