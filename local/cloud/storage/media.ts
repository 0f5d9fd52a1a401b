/**
 * Uploads and downloads of Cloud Storage: simple, multipart and resumable uploads, downloads with ranges, signed URLs. Each is
 * a call of the JSON API with bytes beside it.
 */
import { randomBytes } from 'node:crypto';
import type { Caller, JsonObject, Media, World } from '../kernel/api.js';
import { type ApiReply, authenticate, type Kernel } from '../kernel/kernel.js';
import type { MediaReply, MediaRequest } from '../kernel/media.js';
import { contentOf } from './content.js';
import { endedUpload, forgetUpload, storedContent, writeUpload } from './contents.js';
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
  /** How many bytes have come. They are in the file of this name. */
  received: number;
  file: string;
  /** The object that the upload became. */
  object?: JsonObject;
}

/** See https://cloud.google.com/storage/docs/resumable-uploads. */
const sessionDays = 7;
/** All bytes of a request are in memory. */
const largest = 512 * 1024 * 1024;
/** Google keeps whole multiples of it until the end. */
const unit = 256 * 1024;
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
  if (bytes.length > largest) return refused(413, 'The simulated Cloud Storage takes at most 512 MiB in a request.');
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
      return insert(request.query, '', { type, keep: () => storedContent(parts.world, bytes) });
    case 'multipart': {
      const both = partsOf(bytes, type);
      if (both === undefined) return refused(400, 'Multipart body must have two parts: metadata and media.');
      const { resource, media } = both;
      return insert(request.query, resource, { type: media.type, keep: () => storedContent(parts.world, media.bytes) });
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
    received: 0,
    file: `upload-${id}`,
  };
  const location = `${origin}${request.path}?uploadType=resumable&upload_id=${id}`;
  return { status: 200, headers: { location, 'x-guploader-uploadid': id }, body: '' };
}

const sessions = (world: World): Record<string, Session> => world.table<Session>('storage.uploads');

type Insert = (query: URLSearchParams, resource: string, media: Media, caller: Caller) => Promise<ApiReply>;

/** Takes a chunk of a resumable upload, or a question about its progress (`bytes * / N`, or `*` for N). */
async function goOn(world: World, id: string, asked: MediaRequest, insert: Insert): Promise<MediaReply | ApiReply> {
  const session = sessions(world)[id];
  if (session === undefined) return refused(404, 'The upload session does not exist.');
  if (world.now() - session.begunAt > sessionDays * 86_400_000) return refused(410, 'The upload session has expired.');
  if (asked.request.httpMethod === 'DELETE') {
    forgetUpload(world, session.file);
    delete sessions(world)[id];
    return { status: 499, headers: {}, body: '' };
  }
  if (session.object !== undefined) return { kind: 'json', status: 200, body: session.object };
  const chunk = chunkIn(session, asked);
  if (typeof chunk === 'string') return refused(400, chunk);
  const { received } = session;
  // What is there already is not written anew. Before the end, only whole units are kept.
  const news = chunk.bytes.subarray(received - chunk.begins);
  const kept = chunk.ends ? news : news.subarray(0, news.length - ((received + news.length) % unit));
  writeUpload(world, session.file, received, kept);
  session.received = received + kept.length;
  if (!chunk.ends) return progressOf(session);
  const keep = await endedUpload(world, session.file);
  const query = new URLSearchParams(session.query);
  const reply = await insert(query, session.resource, { type: session.type, keep }, session.caller);
  if (reply.kind === 'json' && reply.status === 200) {
    session.object = reply.body;
    forgetUpload(world, session.file);
  }
  return reply;
}

const progressOf = ({ received }: Session): MediaReply => ({
  status: 308,
  headers: received === 0 ? {} : { range: `bytes=0-${received - 1}` },
  body: '',
});

interface Chunk {
  readonly bytes: Buffer;
  /** Where it begins in the whole, which is not behind what has come. */
  readonly begins: number;
  /** Whether it is the last one. */
  readonly ends: boolean;
}

/** A text says why it is refused. */
function chunkIn(session: Session, { headers, bytes, isCut = false }: MediaRequest): Chunk | string {
  const range = headers['content-range'];
  const [, first, last, total] = /^bytes (?:(\d+)-(\d+|\*)|\*)\/(\d+|\*)$/.exec(range ?? '') ?? [];
  if (range !== undefined && total === undefined) return 'The Content-Range is malformed.';
  if (session.bytes !== undefined && total !== undefined && total !== '*' && Number(total) !== session.bytes) {
    return `The upload was begun for ${session.bytes} bytes, not ${total}.`;
  }
  const begins = range === undefined ? 0 : first === undefined ? session.received : Number(first);
  if (begins > session.received) return 'The chunk does not begin where the last one ended.';
  const length = last === undefined || last === '*' ? bytes.length : Number(last) - begins + 1;
  // A broken connection tells nobody anything. What came is kept.
  if (isCut) return { bytes, begins, ends: false };
  if (first !== undefined && length !== bytes.length) return 'The chunk is not as long as its Content-Range.';
  // `bytes 0-*/*`: the length is unknown, and the upload ends with the request.
  const ends = range === undefined || (last === '*' && total === '*') || total === String(begins + bytes.length);
  if (!ends && first !== undefined && bytes.length < unit) {
    return `Invalid request.  The number of bytes uploaded is required to be equal or greater than ${unit}, except for the final request (it's recommended to be the exact multiple of ${unit}).  The received request contained ${bytes.length} bytes, which does not meet this requirement.`;
  }
  return { bytes, begins, ends };
}

/** `multipart/related`: the resource as JSON, then the bytes. */
function partsOf(
  body: Buffer,
  type: string | undefined,
): { resource: string; media: { type: string | undefined; bytes: Buffer } } | undefined {
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
