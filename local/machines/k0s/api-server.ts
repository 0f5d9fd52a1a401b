/** A Kubernetes API over TLS with a few kinds, for kubectl, plinth and the kubelets of the stand-in. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { text } from 'node:stream/consumers';
import { discovered } from './discovery.js';
import { fault, isFault, statusOf } from './fault.js';
import { apiOf, type Kind, kinds, type Thing } from './kinds.js';
import { type Change, type Draft, type Objects, plural } from './objects.js';
import { patched } from './patch.js';
import type { Identity } from './pki.js';
import { tableOf } from './table.js';
import { mustBeAllowed, whoCalls } from './who.js';

export interface ApiServerOptions {
  readonly objects: Objects;
  readonly identity: Identity;
  /** PEM. */
  readonly ca: string;
  readonly version: string;
}

interface Place {
  readonly kind: Kind;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly part?: string | undefined;
}

/** `/api/v1/[namespaces/NS/]PLURAL[/NAME[/status]]`, or `/apis/GROUP/VERSION/…`. */
function placeOf(path: string): Place {
  const words = path.split('/').slice(1).map(decodeURIComponent);
  const api = words.shift() === 'api' ? words.shift() : `${words.shift()}/${words.shift()}`;
  const namespace = words[0] === 'namespaces' && words.length > 2 && words[2] !== 'status' ? words[1] : undefined;
  const [name, one, part] = namespace === undefined ? words : words.slice(2);
  const kind = kinds.find((each) => apiOf(each) === api && each.plural === name);
  if (kind === undefined || (part !== undefined && !(part === 'status' && kind.hasStatus))) {
    throw fault(404, 'NotFound', 'the server could not find the requested resource');
  }
  return { kind, namespace, name: one, part };
}

/** Supports only equality, as kubectl writes it. */
function selected(things: readonly Thing[], url: URL): readonly Thing[] {
  const wanted = (parameter: string) =>
    (url.searchParams.get(parameter) ?? '')
      .split(',')
      .filter(Boolean)
      .map((each) => each.split(/==?/) as [string, string | undefined]);
  const field = (thing: Thing, path: string): unknown =>
    path.split('.').reduce<unknown>((found, name) => (found as Record<string, unknown> | undefined)?.[name], thing);
  return things.filter(
    (thing) =>
      wanted('labelSelector').every(([label, value]) =>
        value === undefined ? thing.metadata.labels?.[label] !== undefined : thing.metadata.labels?.[label] === value,
      ) && wanted('fieldSelector').every(([path, value]) => String(field(thing, path)) === value),
  );
}

/** Moves `stringData` into `data`, because clients write it but never read it. */
function asKept({ kind }: Kind, draft: Draft): Draft {
  if (kind !== 'Secret' || draft['stringData'] === undefined) return draft;
  const { stringData, ...rest } = draft;
  const given = Object.entries(stringData as Record<string, string>);
  const encoded = given.map(([name, value]) => [name, Buffer.from(value).toString('base64')]);
  return { ...rest, data: { ...(rest['data'] as object | undefined), ...Object.fromEntries(encoded) } };
}

function watch(request: IncomingMessage, response: ServerResponse, objects: Objects, place: Place, url: URL): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const say = (type: Change['type'], thing: Thing): void =>
    void response.write(`${JSON.stringify({ type, object: thing })}\n`);
  const matches = (thing: Thing): boolean =>
    (place.namespace === undefined || thing.metadata.namespace === place.namespace) &&
    selected([thing], url).length > 0;
  const since = Number(url.searchParams.get('resourceVersion') ?? 0);
  for (const thing of objects.list(place.kind)) {
    if (Number(thing.metadata.resourceVersion) > since && matches(thing)) say('ADDED', thing);
  }
  for (const thing of since === 0 ? [] : objects.deletedSince(place.kind, since)) {
    if (matches(thing)) say('DELETED', thing);
  }
  const stop = objects.onChange(({ type, kind, thing }) => {
    if (kind === place.kind && matches(thing)) say(type, thing);
  });
  request.once('close', stop);
  response.once('close', stop);
}

const readBody = (body: string, contentType: string | undefined): Draft => {
  if (contentType !== undefined && !contentType.startsWith('application/json')) {
    throw fault(415, 'UnsupportedMediaType', `the body of the request was in an unknown format: ${contentType}`);
  }
  try {
    return JSON.parse(body) as Draft;
  } catch {
    throw fault(400, 'BadRequest', 'the object provided is unrecognized');
  }
};

/** Nodes report every second, so their reports are not written to the disk. */
const isReport = ({ kind, part }: Place): boolean => kind.plural === 'nodes' && part === 'status';

/** A request for objects, with a known caller and a parsed body. */
interface Asked {
  readonly objects: Objects;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly place: Place;
  readonly body: string;
  allow(verb: string): void;
}

async function answer(
  { objects, ca, version }: ApiServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<unknown> {
  const url = new URL(request.url ?? '/', 'https://kubernetes');
  const who = whoCalls(request, objects, ca);
  const page = request.method === 'GET' ? discovered(url.pathname, version) : undefined;
  if (page !== undefined) return page;
  if (!/^\/apis?\//.test(url.pathname))
    throw fault(404, 'NotFound', 'the server could not find the requested resource');
  const place = placeOf(url.pathname);
  const { kind, namespace, name } = place;
  const allow = (verb: string): void => mustBeAllowed(who, { verb, kind, name, namespace });
  const asked: Asked = { objects, request, response, url, place, body: await text(request), allow };
  switch (request.method) {
    case 'GET':
      return read(asked);
    case 'POST':
      return create(asked);
    case 'PUT':
      return replace(asked);
    case 'PATCH':
      return patch(asked);
    case 'DELETE':
      return remove(asked);
    default:
      throw fault(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
  }
}

function read({ objects, request, response, url, place, allow }: Asked): unknown {
  const { kind, namespace, name } = place;
  const isWatch = ['true', '1'].includes(url.searchParams.get('watch') ?? '');
  allow(name !== undefined ? 'get' : isWatch ? 'watch' : 'list');
  if (name !== undefined) return tableOf(kind, objects.get(kind, namespace, name), request.headers.accept);
  if (isWatch) return watch(request, response, objects, place, url);
  const items = selected(objects.list(kind, namespace), url);
  const metadata = { resourceVersion: objects.version() };
  return tableOf(kind, { kind: `${kind.kind}List`, apiVersion: apiOf(kind), metadata, items }, request.headers.accept);
}

function create({ objects, request, response, place: { kind, namespace }, body, allow }: Asked): Thing {
  allow('create');
  response.statusCode = 201;
  return objects.create(kind, namespace, asKept(kind, readBody(body, request.headers['content-type'])));
}

function replace({ objects, request, place, body, allow }: Asked): Thing {
  allow('update');
  const { kind, namespace, name = '', part } = place;
  const before = objects.get(kind, namespace, name);
  const draft = asKept(kind, readBody(body, request.headers['content-type']));
  const wanted = part === 'status' ? { ...before, metadata: draft.metadata ?? {}, status: draft['status'] } : draft;
  return objects.replace(kind, namespace, name, wanted, isReport(place));
}

function patch({ objects, request, response, place, body, allow }: Asked): Thing {
  allow('patch');
  const { kind, namespace, name = '' } = place;
  const type = request.headers['content-type'] ?? '';
  const before = objects.find(kind, namespace, name);
  if (before === undefined && type.startsWith('application/apply-patch+yaml')) {
    response.statusCode = 201;
    return objects.create(kind, namespace, asKept(kind, patched({}, type, body) as Draft));
  }
  const wanted = patched(objects.get(kind, namespace, name), type, body) as Draft;
  return objects.replace(kind, namespace, name, asKept(kind, wanted), isReport(place));
}

function remove({ objects, place: { kind, namespace, name = '' }, allow }: Asked) {
  allow('delete');
  const { metadata } = objects.remove(kind, namespace, name);
  const details = { name: metadata.name, kind: plural(kind), uid: metadata.uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

export function startApiServer(server: ApiServerOptions): Server {
  const { identity, ca } = server;
  const send = (response: ServerResponse, content: unknown): void => {
    const isText = typeof content === 'string';
    response.setHeader('content-type', isText ? 'text/plain' : 'application/json');
    response.end(isText ? content : JSON.stringify(content));
  };
  const options = { key: identity.key, cert: identity.certificate, ca, requestCert: true, rejectUnauthorized: false };
  return createServer(options, (request, response) => {
    answer(server, request, response).then(
      (content) => {
        if (content !== undefined) send(response, content);
      },
      (error: Error) => {
        const known = isFault(error) ? error : { code: 500, reason: 'InternalError', message: error.message };
        if (!isFault(error)) process.stderr.write(`${error.stack}\n`);
        response.statusCode = known.code;
        send(response, statusOf(known));
      },
    );
  });
}
