/** The registry protocol (OCI distribution, `/v2/…`) over any content and any gate: pulls, pushes, tags. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type Action, basicOf, callerOf, challenge, type Gate, type TokenGate } from './gate.js';
import { digestOf, type Images, isDigest, type Manifest, referencesOf } from './images.js';

/** A manifest or blob that was served to a caller who copies an image. */
export interface Served {
  readonly image: string;
  readonly what: 'manifests' | 'blobs';
  readonly reference: string;
}

export interface RegistryOptions<Who> {
  readonly gate: Gate<Who>;
  readonly images: Images;
  readonly onServed?: (served: Served) => void;
  /** Called after a push, before the answer. */
  readonly onPushed?: () => Promise<void>;
}

interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

/** A request beneath `/v2/<image>/`. */
interface Asked {
  readonly request: IncomingMessage;
  readonly method: string;
  readonly image: string;
  readonly what: string;
  readonly reference: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
}

const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const paths = new RegExp(`^/v2/(${component}(?:/${component})*)/(manifests|blobs/uploads|blobs|tags)/([^/]*)$`);

export function registryServer<Who>(options: RegistryOptions<Who>): RequestListener {
  const uploads = new Map<string, Buffer>();
  return (request, response) =>
    void answer(options, uploads, request)
      .catch((error: Error) => refused(500, 'UNKNOWN', error.message))
      .then((reply) => send(request, response, reply));
}

function send({ method }: IncomingMessage, response: ServerResponse, { status, headers = {}, body = '' }: Reply): void {
  response.writeHead(status, {
    'docker-distribution-api-version': 'registry/2.0',
    'content-length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(method === 'HEAD' ? undefined : body);
}

const json = { 'content-type': 'application/json; charset=utf-8' };
const refused = (status: number, code: string, message: string, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { ...json, ...headers },
  body: JSON.stringify({ errors: [{ code, message }] }),
});

async function answer<Who>(
  options: RegistryOptions<Who>,
  uploads: Map<string, Buffer>,
  request: IncomingMessage,
): Promise<Reply> {
  const { gate } = options;
  const { method = 'GET', headers } = request;
  const url = new URL(request.url ?? '/', 'http://registry');
  const body = await buffer(request);
  if ('tokenPath' in gate && url.pathname === gate.tokenPath && method === 'GET') return token(gate, request);
  if (!url.pathname.startsWith('/v2/')) return refused(404, 'NOT_FOUND', 'not found');

  const [, image = '', what = '', reference = ''] = paths.exec(url.pathname) ?? [];
  const reads = method === 'GET' || method === 'HEAD';
  const action: Action = reads && what !== 'blobs/uploads' ? 'pull' : 'push';
  const who = await callerOf(gate, request);
  if (who === undefined) {
    const wanted = image === '' ? undefined : { image, action };
    return refused(401, 'UNAUTHORIZED', 'authentication required', {
      'www-authenticate': challenge(gate, headers.host ?? '', wanted),
    });
  }
  if (url.pathname === '/v2/') return { status: 200, headers: json, body: '{}' };
  if (image === '') return refused(404, 'NAME_INVALID', `${url.pathname} names no image`);
  const refusal = gate.may(who, image, action);
  if (refusal !== undefined) return refused(refusal.status, refusal.code, refusal.message);
  const asked: Asked = { request, method, image, what, reference, query: url.searchParams, body };
  if (what === 'tags') return tags(options, asked);
  if (what === 'blobs/uploads') return upload(options, uploads, asked);
  if (reads) return what === 'manifests' ? manifest(options, asked) : blob(options, asked);
  if (what === 'manifests' && method === 'PUT') return putManifest(options, asked);
  return refused(405, 'UNSUPPORTED', 'The operation is unsupported.');
}

/** Clients bring their credentials here and leave with a token for a quarter of an hour. */
async function token<Who>(gate: TokenGate<Who>, request: IncomingMessage): Promise<Reply> {
  const basic = basicOf(request);
  if (basic === undefined || (await gate.login(...basic)) === undefined) {
    return refused(401, 'UNAUTHORIZED', 'authentication required');
  }
  const given = gate.tokenFor(...basic);
  return {
    status: 200,
    headers: json,
    body: JSON.stringify({ token: given, access_token: given, expires_in: 900, issued_at: new Date().toISOString() }),
  };
}

async function tags({ images }: RegistryOptions<unknown>, { image, method, reference }: Asked): Promise<Reply> {
  if (reference !== 'list' || method !== 'GET') return refused(404, 'UNSUPPORTED', 'The operation is unsupported.');
  const found = await images.tags(image);
  if (found === undefined) return refused(404, 'NAME_UNKNOWN', `repository name ${image} not known to registry`);
  return { status: 200, headers: json, body: JSON.stringify({ name: image, tags: found }) };
}

async function manifest({ images, onServed }: RegistryOptions<unknown>, asked: Asked): Promise<Reply> {
  const { image, reference, method } = asked;
  const found = await images.manifest(image, reference);
  if (found === undefined) return refused(404, 'MANIFEST_UNKNOWN', `manifest unknown: ${image} ${reference}`);
  if (method === 'GET') onServed?.({ image, what: 'manifests', reference });
  const headers = { 'content-type': found.type, 'docker-content-digest': found.digest };
  return { status: 200, headers, body: found.bytes };
}

async function blob({ images, onServed }: RegistryOptions<unknown>, asked: Asked): Promise<Reply> {
  const { image, reference, method } = asked;
  const found = await images.blob(image, reference);
  if (found === undefined) return refused(404, 'BLOB_UNKNOWN', `blob unknown to registry: ${image} ${reference}`);
  if (method === 'GET') onServed?.({ image, what: 'blobs', reference });
  const headers = { 'content-type': 'application/octet-stream', 'docker-content-digest': reference };
  return { status: 200, headers, body: found };
}

const created = (image: string, what: string, digest: string): Reply => ({
  status: 201,
  headers: { location: `/v2/${image}/${what}/${digest}`, 'docker-content-digest': digest },
});

async function putManifest({ images, onPushed }: RegistryOptions<unknown>, asked: Asked): Promise<Reply> {
  const { image, reference, body, request } = asked;
  const names = referencesOf(body);
  if (names === undefined) return refused(400, 'MANIFEST_INVALID', 'manifest invalid');
  const digest = digestOf(body);
  if (reference.includes(':') && reference !== digest) {
    return refused(400, 'DIGEST_INVALID', `the manifest is ${digest}, not ${reference}`);
  }
  for (const each of names.blobs) {
    if ((await images.blob(image, each)) !== undefined) continue;
    return refused(400, 'MANIFEST_BLOB_UNKNOWN', `blob unknown to registry: ${each}`);
  }
  for (const each of names.manifests) {
    if ((await images.manifest(image, each)) !== undefined) continue;
    return refused(400, 'MANIFEST_UNKNOWN', `manifest unknown: ${each}`);
  }
  const type = request.headers['content-type'] ?? 'application/vnd.oci.image.manifest.v1+json';
  const pushed: Manifest = { digest, type, bytes: body };
  await images.putManifest(image, pushed, isDigest(reference) ? undefined : reference);
  await onPushed?.();
  return created(image, 'manifests', digest);
}

/** POST begins an upload, PATCH brings bytes, PUT with the digest ends it. A client may mount a blob of another image. */
async function upload(
  { images, onPushed }: RegistryOptions<unknown>,
  uploads: Map<string, Buffer>,
  { image, method, reference, query, body, request }: Asked,
): Promise<Reply> {
  const begun = method === 'POST' && reference === '';
  const id = begun ? randomUUID() : reference;
  const key = `${image} ${id}`;
  const held = begun ? Buffer.alloc(0) : uploads.get(key);
  if (held === undefined) return refused(404, 'BLOB_UPLOAD_UNKNOWN', 'blob upload unknown to registry');
  const wanted = query.get('digest');
  if (method === 'PUT' || (begun && wanted !== null)) {
    const bytes = Buffer.concat([held, body]);
    if (wanted === null || digestOf(bytes) !== wanted) {
      return refused(400, 'DIGEST_INVALID', 'provided digest did not match uploaded content');
    }
    uploads.delete(key);
    await images.putBlob(image, wanted, bytes);
    await onPushed?.();
    return created(image, 'blobs', wanted);
  }
  const mount = query.get('mount');
  if (begun && mount !== null && (await images.blob(image, mount)) !== undefined) return created(image, 'blobs', mount);
  if (method === 'DELETE') {
    uploads.delete(key);
    return { status: 204 };
  }
  if (!['POST', 'PATCH', 'GET'].includes(method)) return refused(405, 'UNSUPPORTED', 'The operation is unsupported.');
  const first = /^(?:bytes[ =])?(\d+)-\d+/.exec(request.headers['content-range'] ?? '')?.[1];
  if (first !== undefined && Number(first) !== held.length) {
    return refused(416, 'RANGE_INVALID', `the next byte is ${held.length}`);
  }
  const all = Buffer.concat([held, body]);
  uploads.set(key, all);
  return {
    status: method === 'GET' ? 204 : 202,
    headers: {
      location: `/v2/${image}/blobs/uploads/${id}`,
      range: `0-${Math.max(0, all.length - 1)}`,
      'docker-upload-uuid': id,
    },
  };
}
