/**
 * Turns a route table (shared/api.ts) and a handler for each operation into one HTTP function. It does what all operations
 * share: matching, authentication, limits, parsing, problems and tracing.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type * as z from 'zod';
import { defaultBodyLimitBytes, type Method, type Route, type RouteTable } from '../../shared/api.js';
import { type Fault, nothingServed, Problem } from '../../shared/problems.js';
import { createSecretRedactor, type SecretRedactor } from '../../shared/secret-redactor.js';
import type { Context } from '../context.js';
import { errorText } from '../host/log.js';
import { withRedactor } from '../host/redaction.js';
import type { Authenticate, Caller } from '../identity/auth.js';
import { traceFields, traceIn } from '../tracing/trace.js';
import type { Span } from '../tracing/tracing.js';
import { createBodyPlaces, readBody } from './bodies.js';
import type { FrameworkRequest } from './framework-server.js';
import { parseInput } from './input.js';
import { type JsonRead, readJson } from './json.js';
import { createPlaces, type Places } from './places.js';
import { type Answer, sendAnswer, sendProblem } from './reply.js';

type Part<R, K extends string> = R extends { readonly [key in K]: z.ZodType<infer T> } ? T : undefined;

export interface Call<R extends Route = Route> {
  readonly params: Part<R, 'params'>;
  readonly query: Part<R, 'query'>;
  readonly body: Part<R, 'body'>;
  /** Only the headers that the route names. */
  readonly headers: Part<R, 'headers'>;
  /** The request's own span. Its trace id is also the `instance` of every problem. */
  readonly span: Span;
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal;
  readonly caller: R extends { readonly caller: 'anyone' } ? undefined : Caller;
}

export type Handlers<T extends RouteTable> = { readonly [K in keyof T]: (call: Call<T[K]>) => Promise<Answer> };

/** A request that fits no schema, from a known caller. */
interface Unread {
  readonly caller: Caller;
  readonly query: Readonly<Record<string, string>>;
  /** JSON of any form. */
  readonly body: unknown;
  readonly gone: AbortSignal;
}

export type HttpFunction = (request: FrameworkRequest, response: ServerResponse) => Promise<void>;

export interface RouterParts<T extends RouteTable> {
  readonly context: Pick<Context, 'clock' | 'config' | 'log' | 'store' | 'tracing'>;
  readonly routes: T;
  readonly handlers: Handlers<T>;
  readonly authenticate: Authenticate;
  /** Further objections to a request that fits no schema, so that the caller gets all of them at once. */
  readonly objections?: { readonly [K in keyof T]?: (call: Unread) => Promise<readonly Fault[]> };
  /** Registers the secrets in a body, valid or not. */
  readonly registerSecrets?: (redactor: SecretRedactor, body: unknown) => void;
}

interface Match {
  readonly operation: string;
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** The decoded segments, or none if the path cannot be decoded. */
function segmentsOf(path: string): string[] {
  try {
    return path.split('/').slice(1).map(decodeURIComponent);
  } catch {
    return [];
  }
}

function paramsOf(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, segment] of segments.entries()) {
    const part = pattern[i] as string;
    if (part.startsWith('{') ? segment === '' : part !== segment) return undefined;
    if (part.startsWith('{')) params[part.slice(1, -1)] = segment;
  }
  return params;
}

function createMatcher(routes: RouteTable): (method: string, path: string) => Match {
  const entries = Object.entries(routes).map(([operation, route]) => ({
    operation,
    route,
    pattern: route.path.split('/').slice(1),
  }));
  return (method, path) => {
    const segments = segmentsOf(path);
    // A HEAD request gets the headers of the GET. The body is left out when the answer is written.
    const wanted = method === 'HEAD' ? 'GET' : method;
    const taken: Method[] = [];
    for (const { operation, route, pattern } of entries) {
      const params = paramsOf(pattern, segments);
      if (params === undefined) continue;
      if (route.method === wanted) return { operation, route, params };
      taken.push(route.method);
    }
    if (taken.length === 0) throw new Problem('not-found', nothingServed);
    const allow = taken.flatMap((each) => (each === 'GET' ? [each, 'HEAD'] : [each]));
    throw new Problem('method-not-allowed', `This path takes ${taken.join(' and ')}.`, { members: { allow } });
  };
}

/** `errors` has all faults. The detail has a sentence for each of the first few. */
function badInput(errors: readonly Fault[]): Problem {
  const named = errors.slice(0, 5).map(({ path, message }) => `${path} ${message}.`);
  const rest = errors.length - named.length;
  const more = rest === 0 ? [] : [`${rest} more ${rest === 1 ? 'value is' : 'values are'} wrong.`];
  return new Problem('bad-input', [...named, ...more].join(' '), { errors });
}

/** A body without content needs no type. */
function jsonIn(headers: IncomingHttpHeaders, bytes: Buffer): JsonRead {
  if (bytes.length === 0) return { value: undefined, repeated: [] };
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map((each) => each.trim()).find((each) => each.startsWith('charset='));
  if (type.trim() !== 'application/json' || !/^(?:charset=("?)utf-8\1)?$/.test(charset ?? '')) {
    throw new Problem('unsupported-media-type', 'The body must be application/json in UTF-8.');
  }
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw new Problem('unsupported-media-type', 'The body must not be compressed.');
  }
  try {
    return readJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    // The parser's own message quotes the body, which may hold secrets.
    const message = error instanceof RangeError ? error.message : 'is not valid JSON in UTF-8';
    throw badInput([{ path: 'body', message }]);
  }
}

const isStream = ({ replies }: Route): boolean =>
  Object.values(replies).some(({ type }) => type === 'text/event-stream');

/** The reason of `gone`. What it stops fails with it, or with an error that it caused. */
class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

function isCausedBy(error: unknown, reason: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) if (each === reason) return true;
  return false;
}

/** A request while it is answered. */
interface Exchange {
  readonly request: FrameworkRequest;
  readonly span: Span;
  readonly gone: AbortSignal;
  readonly matched: Match;
  readonly search: string;
  readonly redactor: SecretRedactor;
}

/** Authenticates, reads and checks, in this order, and has the handler answer. Nothing is kept of a body before the token. */
function createAnswering<T extends RouteTable>(parts: RouterParts<T>): (exchange: Exchange) => Promise<Answer> {
  const { context, authenticate, registerSecrets = () => undefined } = parts;
  const bodies = createBodyPlaces();
  const streams = createPlaces({ limit: 'streams', what: 'streams of events', each: 20, all: 60 });
  /** Until the client has its answer, or has gone. */
  const hold = (places: Places, identity: string, gone: AbortSignal): void => {
    gone.throwIfAborted();
    gone.addEventListener('abort', places.take(identity), { once: true });
  };

  return async ({ request, span, gone, matched, search, redactor }) => {
    const { operation, route, params } = matched;
    const authenticating = route.caller === 'known' ? authenticate(request.headers) : undefined;
    // The first token needs the issuer's keys, from far away. The store's client takes as long to load, so load it
    // meanwhile.
    if (authenticating !== undefined) context.store.prepare();
    const caller = await authenticating;
    const identity = caller?.identity ?? '';
    let finish = (): void => undefined;
    const bytes = await readBody(request, {
      limitBytes: route.bodyLimitBytes ?? defaultBodyLimitBytes,
      clock: context.clock,
      gone,
      onUnfinished: () => {
        finish = bodies.unfinished.take(identity);
      },
      onLarge: () => hold(bodies.large, identity, gone),
    }).finally(() => finish());
    const { value, repeated } = jsonIn(request.headers, bytes);
    registerSecrets(redactor, value);
    const input = parseInput(route, { params, search, headers: request.headers, body: value, repeated });
    if ('faults' in input) {
      const query = Object.fromEntries(new URLSearchParams(search));
      const more =
        caller === undefined ? [] : await parts.objections?.[operation]?.({ caller, query, body: value, gone });
      throw badInput([...input.faults, ...(more ?? [])]);
    }
    if (isStream(route)) hold(streams, identity, gone);
    const handler = parts.handlers[operation] as unknown as (call: object) => Promise<Answer>;
    return handler({ ...input, span, gone, caller });
  };
}

/** Nobody reads an answer to a request whose client has gone, so it has no content. The status is that of nginx. */
const clientGone = 499;

export function createRouter<const T extends RouteTable>(parts: RouterParts<T>): HttpFunction {
  const { context } = parts;
  const { tracing } = context;
  const match = createMatcher(parts.routes);
  const answerTo = createAnswering(parts);

  const serve = async (request: FrameworkRequest, response: ServerResponse, redactor: SecretRedactor) => {
    const span = await tracing.begin(`${request.method}`, traceIn(request.headers), { kind: 'server' });
    const client = new AbortController();
    const { signal: gone } = client;
    response.on('close', () => client.abort(new ClientGone('The client hung up.')));
    let matched: Match | undefined;
    /** Runs before the last byte. Afterwards the function may be frozen. */
    const ended = (status: number, failure?: string): Promise<void> => {
      endSpan(span, request.method ?? '', matched, status, failure);
      return tracing.flush();
    };
    try {
      const url = request.originalUrl ?? request.url ?? '/';
      const [path, search] = splitOnce(url, '?');
      matched = match(request.method ?? '', path);
      const answer = await answerTo({ request, span, gone, matched, search, redactor });
      await sendAnswer(response, answer, gone, () => ended(answer.status));
    } catch (error) {
      if (gone.aborted && isCausedBy(error, gone.reason)) return ended(clientGone, 'the client hung up');
      const problem = problemOf(context, error, span);
      await ended(problem.kind.status, problem.code);
      // A broken stream can report nothing more. The client reconnects with its cursor.
      if (response.headersSent) response.destroy();
      else sendProblem(request, response, problem, span.id);
    }
  };
  return async (request, response) => {
    const redactor = createSecretRedactor();
    registerCredentials(redactor, request.headers);
    await withRedactor(redactor, () => serve(request, response, redactor));
  };
}

/** What a caller shows to say who they are. */
function registerCredentials({ register }: SecretRedactor, { authorization, cookie = '' }: IncomingHttpHeaders): void {
  register(authorization?.replace(/^\S+ +/, ''));
  for (const each of cookie.split(/; */)) register(each.slice(each.indexOf('=') + 1));
}

/** What the caller may know of an error. The rest goes to the log. */
function problemOf(context: Pick<Context, 'log' | 'config'>, error: unknown, span: Span): Problem {
  const told = error instanceof Problem && error.code !== 'internal';
  if (told && error.kind.status < 500) return error;
  const problem = told ? error : new Problem('internal', 'Something went wrong. The log has more under this trace id.');
  context.log(told ? 'WARNING' : 'ERROR', `A request failed: ${problem.code}`, {
    ...traceFields(context.config.project, span),
    error: errorText(error),
  });
  return problem;
}

function endSpan(span: Span, method: string, matched: Match | undefined, status: number, failure?: string): void {
  // The route's path, because real paths name people.
  const name = matched === undefined ? undefined : `${matched.route.method} ${matched.route.path}`;
  const { id } = matched?.params ?? {};
  const attributes = {
    'http.request.method': method,
    'http.response.status_code': status,
    ...(matched !== undefined && { 'http.route': matched.route.path }),
    ...(id !== undefined && failure === undefined && { 'plinth.bootstrap': id }),
  };
  span.end({ name, attributes, failure });
}

function splitOnce(text: string, at: string): [before: string, after: string] {
  const i = text.indexOf(at);
  return i < 0 ? [text, ''] : [text.slice(0, i), text.slice(i + 1)];
}
