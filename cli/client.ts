/** The bootstraps function as the commands speak to it: one method an operation of the route table, replies parsed, problems thrown. */
import { createParser } from 'eventsource-parser';
import { z } from 'zod';
import { BeginReply, bootstrapRoutes, PlanReply, pathTo, type Route, StreamItem } from '../shared/api.js';
import { BootstrapSummary, BootstrapView } from '../shared/bootstrap/bootstrap.js';
import type { BootstrapRequest } from '../shared/bootstrap/request.js';
import { type Fault, Problem, type ProblemCode, problemKinds } from '../shared/problems.js';
import type { Token } from './token.js';

export interface Client {
  begin(request: BootstrapRequest): Promise<BeginReply>;
  plan(request: BootstrapRequest): Promise<PlanReply>;
  list(all: boolean): Promise<BootstrapSummary[]>;
  /** By the project's name or id, the newest; undefined when the caller has none. */
  find(project: string): Promise<BootstrapSummary | undefined>;
  get(id: string): Promise<BootstrapView>;
  cancel(id: string): Promise<BootstrapView>;
  config(id: string, datacenter: string): Promise<string>;
  secrets(id: string, datacenter: string): Promise<string>;
  ageIdentity(id: string): Promise<string>;
  /** Until the bootstrap ends or `signal` aborts; comes back by itself when the stream breaks or the service is away for a while. */
  follow(id: string, signal: AbortSignal): AsyncGenerator<StreamItem>;
}

export interface ClientParts {
  readonly endpoint: string;
  readonly token: Token;
  readonly userAgent: string;
  /** For `--verbose`: a call that was made, a retry that will be. */
  readonly onTrace: (text: string) => void;
  /** The stream is away; what is told to people. */
  readonly onTrouble: (text: string) => void;
  /** Ctrl-C: whatever is under way is given up. */
  readonly interrupted: AbortSignal;
}

const Identity = z.object({ identity: z.string() });

const requestMs = 120_000;
/** Comments come every 15 seconds; silence beyond this is a dead connection. */
const silenceMs = 50_000;
/** How long the service may be away before following is given up. */
const awayMs = 10 * 60_000;
const backoffMs = { first: 500, most: 15_000 } as const;

interface Sent {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export function createClient({ endpoint, token, userAgent, onTrace, onTrouble, interrupted }: ClientParts): Client {
  async function send(route: Route, { params, query = {}, body, headers, signal }: Sent = {}): Promise<Response> {
    const search = new URLSearchParams(query).toString();
    const path = `${pathTo(route, params)}${search === '' ? '' : `?${search}`}`;
    for (const last of [false, true]) {
      const bearer = `Bearer ${await token.get(last)}`;
      const startedAt = Date.now();
      let response: Response;
      try {
        response = await fetch(`${endpoint}${path}`, {
          method: route.method,
          headers: {
            authorization: bearer,
            // In front of a private function IAM takes this one, and leaves the other as it is.
            ...(endpoint.startsWith('https:') && { 'x-serverless-authorization': bearer }),
            'user-agent': userAgent,
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          // The token goes where it was told to go, and nowhere that an answer says.
          redirect: 'error',
          signal: signal ?? AbortSignal.any([AbortSignal.timeout(requestMs), interrupted]),
        });
      } catch (error) {
        interrupted.throwIfAborted();
        signal?.throwIfAborted();
        onTrace(`${route.method} ${path}: ${reasonOf(error)}`);
        throw new Problem('unavailable', `plinth at ${endpoint} cannot be reached: ${reasonOf(error)}.`, {
          advice: 'Check the endpoint (--endpoint, PLINTH_ENDPOINT) and try again in a moment.',
          cause: error,
        });
      }
      onTrace(`${route.method} ${path}: ${response.status} in ${Date.now() - startedAt} ms`);
      if (response.ok) return response;
      if (response.status === 401 && token.renewable && !last) {
        await response.body?.cancel();
        continue;
      }
      throw await problemIn(response, token.renewable);
    }
    throw new Error('a call is tried at most twice');
  }

  async function json<T>(schema: z.ZodType<T>, route: Route, sent?: Sent): Promise<T> {
    const response = await send(route, sent);
    const read = schema.safeParse(await response.json().catch(() => undefined));
    if (read.success) return read.data;
    throw new Problem('internal', `plinth at ${endpoint} answered in a form that this version does not know.`, {
      advice: 'Use the version of plinth that belongs to this endpoint.',
    });
  }
  const text = async (route: Route, sent: Sent): Promise<string> => (await send(route, sent)).text();

  const { beginBootstrap, listBootstraps, getBootstrap, followBootstrap, cancelBootstrap, getConfig, getSecrets } =
    bootstrapRoutes;
  const { readAgeIdentity } = bootstrapRoutes;

  const get = (id: string) => patiently(() => json(BootstrapView, getBootstrap, { params: { id } }), onTrace);
  const list = (query: Record<string, string>) =>
    patiently(() => json(BootstrapSummary.array(), listBootstraps, { query }), onTrace);

  return {
    begin: (body) => json(BeginReply, beginBootstrap, { body }),
    plan: (body) => json(PlanReply, beginBootstrap, { body, query: { dryRun: 'true' } }),
    list: (all) => list(all ? { all: 'true' } : {}),
    async find(project) {
      const found = await list({ name: project });
      return found.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))[0];
    },
    get,
    cancel: (id) => json(BootstrapView, cancelBootstrap, { params: { id } }),
    config: (id, datacenter) => patiently(() => text(getConfig, { params: { id }, query: { datacenter } }), onTrace),
    secrets: (id, datacenter) => patiently(() => text(getSecrets, { params: { id }, query: { datacenter } }), onTrace),
    ageIdentity: async (id) => {
      const { identity } = await json(Identity, readAgeIdentity, { params: { id } });
      return identity;
    },
    async *follow(id, signal) {
      let cursor: string | undefined;
      let failures = 0;
      let awaySince: number | undefined;
      for (;;) {
        try {
          const connection = new AbortController();
          const gone = AbortSignal.any([signal, connection.signal]);
          const response = await send(followBootstrap, {
            params: { id },
            headers: { accept: 'text/event-stream', ...(cursor !== undefined && { 'last-event-id': cursor }) },
            signal: gone,
          });
          for await (const { item, at } of readStream(response, connection)) {
            awaySince = undefined;
            failures = 0;
            cursor = at ?? cursor;
            if (item === undefined) continue;
            yield item;
            if (item.type === 'end' && item.reason === 'ended') return;
          }
        } catch (error) {
          signal.throwIfAborted();
          if (error instanceof Problem && !isPassing(error)) throw error;
          awaySince ??= Date.now();
          if (Date.now() - awaySince > awayMs) throw error instanceof Problem ? error : lost(endpoint, error);
          const retryAfter = error instanceof Problem ? error.retryAfterSeconds : undefined;
          const waitMs = retryAfter === undefined ? backoff(failures) : retryAfter * 1000;
          failures += 1;
          const why = error instanceof Problem ? error.detail : `the connection broke (${reasonOf(error)})`;
          if (failures > 1) onTrouble(`${why.replace(/\.$/, '')}; the bootstrap goes on, trying again`);
          else onTrace(why);
          await pause(waitMs, signal);
          continue;
        }
        // The server ended the stream before its time-out, or the connection closed: come back with the cursor.
        signal.throwIfAborted();
        await pause(backoff(failures), signal);
        failures += 1;
      }
    },
  };
}

interface Read {
  readonly item: StreamItem | undefined;
  readonly at: string | undefined;
}

async function* readStream(response: Response, connection: AbortController): AsyncGenerator<Read> {
  const queue: Read[] = [];
  const parser = createParser({
    onEvent: ({ data, id }) => queue.push({ item: itemOf(data), at: id }),
    onComment: () => queue.push({ item: undefined, at: undefined }),
  });
  const decoder = new TextDecoder();
  let silence: NodeJS.Timeout | undefined;
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(() => connection.abort(new Error('silent for too long')), silenceMs);
  };
  heard();
  try {
    for await (const chunk of response.body ?? []) {
      heard();
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* queue.splice(0);
    }
  } finally {
    clearTimeout(silence);
    connection.abort();
  }
}

/** Undefined for a kind of event that a newer service sends. */
function itemOf(data: string): StreamItem | undefined {
  try {
    return StreamItem.safeParse(JSON.parse(data)).data;
  } catch {
    return undefined;
  }
}

const isPassing = ({ kind, code }: Problem): boolean =>
  code === 'unavailable' || code === 'internal' || code === 'too-many' || kind.retry !== 'none';

const backoff = (failures: number): number =>
  Math.min(backoffMs.first * 2 ** failures, backoffMs.most) * (0.5 + Math.random() / 2);

/** A safe read is asked for again, a few times, when the service is away for a moment. */
async function patiently<T>(read: () => Promise<T>, onTrace: (text: string) => void): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof Problem) || !isPassing(error) || failures === 4) throw error;
      const waitMs = Math.min((error.retryAfterSeconds ?? 0) * 1000, backoffMs.most) || backoff(failures);
      onTrace(`again in ${Math.round(waitMs)} ms: ${error.detail}`);
      await pause(waitMs);
    }
  }
}

const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });

const lost = (endpoint: string, error: unknown) =>
  new Problem('unavailable', `plinth at ${endpoint} was lost while following: ${reasonOf(error)}.`, { cause: error });

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === 'string') return code;
    if (at.name === 'TimeoutError') return 'no answer in time';
    if (at.cause === undefined) return at.message;
  }
  return String(error);
}

async function problemIn(response: Response, renewable: boolean): Promise<Problem> {
  const body: unknown = await response.json().catch(() => undefined);
  const field = (name: string): unknown =>
    typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
  const text = (name: string): string | undefined => {
    const value = field(name);
    return typeof value === 'string' ? value : undefined;
  };
  const named = text('code');
  const code =
    named !== undefined && Object.hasOwn(problemKinds, named) ? (named as ProblemCode) : codeOf(response.status);
  const errors = field('errors');
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const trace = code === 'internal' ? text('instance') : undefined;
  const advice =
    text('advice') ??
    (response.status === 401 && !renewable ? 'Set PLINTH_TOKEN to a fresh ID token and try again.' : undefined) ??
    (trace !== undefined ? `Tell an operator the trace id ${trace}.` : undefined);
  return new Problem(code, text('detail') ?? `plinth answered ${response.status} ${response.statusText}.`, {
    ...(Array.isArray(errors) && { errors: errors.filter(isFault) }),
    ...(retryAfter > 0 && { retryAfterSeconds: retryAfter }),
    ...(advice !== undefined && { advice }),
  });
}

const isFault = (value: unknown): value is Fault =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Partial<Fault>).path === 'string' &&
  typeof (value as Partial<Fault>).message === 'string';

/** For an answer that is not plinth's own: a proxy's, a front end's. */
function codeOf(status: number): ProblemCode {
  const known: Readonly<Record<number, ProblemCode>> = {
    401: 'unauthenticated',
    403: 'forbidden',
    404: 'not-found',
    409: 'conflict',
    413: 'payload-too-large',
    429: 'too-many',
    500: 'internal',
  };
  return known[status] ?? (status >= 500 ? 'unavailable' : 'bad-input');
}
