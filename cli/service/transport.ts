/** Sends calls to plinth's HTTP APIs: token, address, problems, and retries when an answer is lost. */
import { randomUUID } from 'node:crypto';
import type * as z from 'zod';
import type { Span } from '../../functions/tracing/tracing.js';
import { pathTo, type Route } from '../../shared/api.js';
import { reasonOf } from '../../shared/network-reason.js';
import { Problem } from '../../shared/problems.js';
import { timeLimit } from '../../shared/time-limit.js';
import { traceparentOf } from '../../shared/trace.js';
import type { Io } from '../frame/io.js';
import type { Token } from '../identity/token.js';
import { send } from '../network/send.js';
import { isLost, problemIn, unreachable } from './answer-problem.js';
import { unreadableAnswer } from './other-version.js';
import { patiently } from './patience.js';

export interface TransportParts {
  /** Names the proxies. */
  readonly env: Io['env'];
  readonly endpoint: string;
  readonly token: Token;
  readonly userAgent: string;
  /** The command's span. Each try of a call is a child of it. */
  readonly span: Span;
  /** For `--verbose`: announces a call that was made, or a retry. */
  readonly onTrace: (text: string) => void;
  /** The service is away, and the call waits for it. */
  readonly onTrouble: (text: string) => void;
  /** Ctrl-C aborts whatever is under way. */
  readonly interrupted: AbortSignal;
}

interface Sent {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

interface Answer<T> {
  readonly data: T;
  readonly status: number;
  readonly headers: Headers;
}

export interface ServiceTransport {
  readonly endpoint: string;
  /** Sends once. Any unsuccessful status is thrown as a Problem. */
  send(route: Route, sent?: Sent): Promise<Response>;
  /** Sends once, and parses the JSON reply with `schema`. */
  ask<T>(schema: z.ZodType<T>, route: Route, sent?: Sent): Promise<Answer<T>>;
  /**
   * Like `ask`, with a few retries while the service is away. For reads, and for changes that are safe to repeat. A POST is
   * safe, because all its tries carry one Idempotency-Key.
   */
  askPatiently<T>(schema: z.ZodType<T>, route: Route, sent?: Sent): Promise<Answer<T>>;
  /** Makes these calls again, for half a minute, while plinth itself does not answer. They must be safe to repeat. */
  untilAnswered<T>(calls: () => Promise<T>): Promise<T>;
  text(route: Route, sent?: Sent): Promise<string>;
}

const requestMs = 120_000;

/** One try of a call, recorded as a child span of the command. */
async function tryOnce(
  { env, endpoint, userAgent, span, onTrace, interrupted }: TransportParts,
  route: Route,
  bearer: string,
  { params, query = {}, body, headers, signal }: Sent,
): Promise<Response> {
  const search = new URLSearchParams(query).toString();
  const path = `${pathTo(route, params)}${search === '' ? '' : `?${search}`}`;
  const startedAt = Date.now();
  const part = span.child(`${route.method} ${route.path}`, {
    kind: 'client',
    attributes: { 'http.request.method': route.method, 'http.route': route.path },
  });
  let response: Response;
  try {
    response = await send(env, `${endpoint}${path}`, {
      method: route.method,
      headers: {
        authorization: bearer,
        // In front of a private function, IAM takes this header and leaves the other untouched.
        ...(endpoint.startsWith('https:') && { 'x-serverless-authorization': bearer }),
        'user-agent': userAgent,
        traceparent: traceparentOf(part),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // The token goes only to the configured address, never where an answer redirects to.
      redirect: 'error',
      signal: signal ?? AbortSignal.any([timeLimit(requestMs), interrupted]),
    });
  } catch (error) {
    part.end({ failure: reasonOf(error) });
    interrupted.throwIfAborted();
    signal?.throwIfAborted();
    onTrace(`${route.method} ${path}: ${reasonOf(error)}`);
    throw unreachable(endpoint, error);
  }
  part.end({
    attributes: { 'http.response.status_code': response.status },
    failure: response.ok ? undefined : String(response.status),
  });
  onTrace(`${route.method} ${path}: ${response.status} in ${Date.now() - startedAt} ms`);
  return response;
}

export function createTransport(parts: TransportParts): ServiceTransport {
  const { endpoint, token, interrupted } = parts;

  async function sendOnce(route: Route, sent: Sent = {}): Promise<Response> {
    for (const last of [false, true]) {
      const response = await tryOnce(parts, route, `Bearer ${await token.get(last)}`, sent);
      if (response.ok) return response;
      if (response.status === 401 && token.renewable && !last) {
        await response.body?.cancel();
        continue;
      }
      throw await problemIn(response, endpoint, token.renewable);
    }
    throw new Error('a call is tried at most twice');
  }

  async function ask<T>(schema: z.ZodType<T>, route: Route, sent?: Sent): Promise<Answer<T>> {
    const response = await sendOnce(route, sent);
    const body: unknown = response.status === 204 ? undefined : await bodyOf(response);
    const read = schema.safeParse(body);
    if (read.success) return { data: read.data, status: response.status, headers: response.headers };
    throw unreadableAnswer(endpoint, response.headers);
  }

  /** An answer that breaks off counts as lost. */
  async function bodyOf(response: Response): Promise<unknown> {
    let text: string;
    try {
      text = await response.text();
    } catch (error) {
      interrupted.throwIfAborted();
      throw unreachable(endpoint, error);
    }
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  return {
    endpoint,
    send: sendOnce,
    ask,
    askPatiently: (schema, route, sent = {}) => {
      // All tries share one key.
      const key = route.method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
      let lost = false;
      const once = async () => {
        try {
          return await ask(schema, route, { ...sent, headers: { ...key, ...sent.headers } });
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          // The try whose answer was lost has already deleted it.
          if (route.method === 'DELETE' && lost && error.code === 'not-found') {
            return { data: schema.parse(undefined), status: 204, headers: new Headers() };
          }
          lost ||= error.code === 'unavailable';
          throw error;
        }
      };
      return patiently(once, parts);
    },
    untilAnswered: (calls) => patiently(calls, parts, isLost),
    text: (route, sent) => patiently(async () => (await sendOnce(route, sent)).text(), parts),
  };
}
