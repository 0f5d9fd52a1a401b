/** Writes answers and problems to HTTP responses. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Problem, type ProblemBody, problemBody } from '../../shared/problems.js';
import { version, versionHeader } from '../../shared/version.js';
import { redactHere } from '../host/redaction.js';

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Text and bytes are sent as they are, an iterable piece by piece, anything else as JSON. A 204 has no body. */
  readonly body?: unknown;
}

/** Browsers then reach this host by HTTPS alone, for a year. They ignore it over plain HTTP. */
export const httpsAlone = { 'strict-transport-security': 'max-age=31536000' } as const;

/** An answer is for one caller at one moment. */
const alwaysHeaders = {
  ...httpsAlone,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  // A command of another version reports the difference instead of failing on what it does not know.
  [versionHeader]: version,
};

const isStream = (body: unknown): body is AsyncIterable<string> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body;

/** Resolves when the client has taken the data, or is gone. */
const drained = (response: ServerResponse, gone: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const go = (): void => {
      response.off('drain', go);
      gone.removeEventListener('abort', go);
      resolve();
    };
    response.on('drain', go);
    gone.addEventListener('abort', go);
  });

/** Waits for `beforeEnd` before it sends the last byte. After the response, the function may be frozen. */
export async function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  gone: AbortSignal,
  beforeEnd: () => Promise<void>,
): Promise<void> {
  const { status, headers, body } = answer;
  if (isStream(body)) {
    response.writeHead(status, { ...alwaysHeaders, ...headers }).flushHeaders();
    const pieces = response.req.method === 'HEAD' ? [] : body;
    for await (const piece of pieces) {
      if (gone.aborted) break;
      if (!response.write(piece)) await drained(response, gone);
    }
    await beforeEnd();
    response.end();
    return;
  }
  await beforeEnd();
  if (status === 204) {
    response.writeHead(status, { ...alwaysHeaders, ...headers }).end();
    return;
  }
  const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const type = { 'content-type': 'application/json; charset=utf-8', 'content-length': String(Buffer.byteLength(text)) };
  response.writeHead(status, { ...alwaysHeaders, ...type, ...headers }).end(text);
}

const defaultRetryAfterSeconds: Readonly<Record<number, number>> = { 429: 60, 503: 5 };

export function sendProblem(
  request: IncomingMessage,
  response: ServerResponse,
  problem: Problem,
  traceId: string,
): void {
  const { status } = problem.kind;
  const body: ProblemBody = redactHere(problemBody(problem, traceId));
  const text = JSON.stringify(body);
  const headers: Record<string, string> = {
    ...alwaysHeaders,
    'content-type': 'application/problem+json',
    'content-length': String(Buffer.byteLength(text)),
  };
  if (status === 401) {
    const error = request.headers.authorization === undefined ? '' : ', error="invalid_token"';
    headers['www-authenticate'] = `Bearer realm="plinth"${error}`;
  }
  if (status === 405 && Array.isArray(body['allow'])) headers['allow'] = body['allow'].join(', ');
  const retryAfter = problem.retryAfterSeconds ?? defaultRetryAfterSeconds[status];
  if (retryAfter !== undefined) headers['retry-after'] = String(Math.ceil(retryAfter));
  response.writeHead(status, headers).end(text);
}
