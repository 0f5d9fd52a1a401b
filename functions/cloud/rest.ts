/**
 * Makes one authenticated REST call to a Google API. JSON in, JSON out, a `Problem` if it fails. It never retries, because the
 * engine owns retries.
 */
import type { AuthClient } from 'google-auth-library';
import { Problem } from '../../shared/problems.js';
import { within } from '../../shared/time-limit.js';
import type { Config, GoogleApi } from '../config.js';
import { type ConnectionWatch, noWatch } from '../host/connection-watch.js';
import { FunctionIdentity } from '../host/credentials.js';
import { callSeconds } from './call-seconds.js';
import { faultOfReply, faultOfThrown, problemOf } from './errors.js';

/** Facts of a finished call that don't reveal whom it was about. */
interface CallFacts {
  /** `GET dns`, `compute.disks.insert`. */
  readonly name: string;
  /** The status, or why there is none. */
  readonly result: string;
  readonly milliseconds: number;
}
/** `text` is for readers who may see everything. */
export type OnCall = (text: string, call: CallFacts) => void;

/** As `fetch` does. */
export type Send = (url: URL, request: RequestInit) => Promise<Response>;

/** Credentials, settings and reporting for calls. */
export interface Transport {
  readonly config: Config;
  readonly clock: { now(): Date };
  readonly credentials: AuthClient;
  /** Called for every call with method, URL, status and milliseconds. Never with bodies. */
  readonly onCall: OnCall | undefined;
  /** How requests are sent. Default: over the network. */
  readonly send?: Send | undefined;
  /** Default: none. */
  readonly connections?: ConnectionWatch | undefined;
  /** The purpose of the calls. Google writes it into the audit log of the project concerned. */
  readonly reason?: string | undefined;
}

export const reasonHeader = 'x-goog-request-reason';

/** The function's identity, from the metadata server. `GCE_METADATA_HOST` is its address. */
export const credentialsOf = (config: Config): AuthClient =>
  new FunctionIdentity({
    serviceAccountEmail: config.serviceAccount,
    scopes: ['https://www.googleapis.com/auth/cloud-platform'],
  });

export interface RestCall {
  /** Ends the sentence "Could not …". */
  readonly doing: string;
  readonly query?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The form of the answer. Defaults to json. `location`: the header of that name, or an empty text. */
  readonly as?: 'json' | 'text' | 'location';
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Rest = <T>(method: Method, path: string, call: RestCall) => Promise<T>;

/** Tells a call that began at `startedAt`. */
export function reportCall(
  { clock, onCall }: Pick<Transport, 'clock' | 'onCall'>,
  name: string,
  result: string,
  startedAt: Date,
  inFull = name,
): void {
  const milliseconds = clock.now().getTime() - startedAt.getTime();
  onCall?.(`${inFull} → ${result} in ${milliseconds} ms`, { name, result, milliseconds });
}

export const createRest =
  (transport: Transport, api: GoogleApi): Rest =>
  async <T>(
    method: Method,
    path: string,
    { doing, query = {}, body, headers: more = {}, as = 'json' }: RestCall,
  ): Promise<T> => {
    const { config, clock, credentials, send = fetch, connections = noWatch, reason } = transport;
    const url = new URL(`${config.endpoints[api]}${path}`);
    for (const [name, value] of Object.entries(query)) {
      for (const each of value === undefined ? [] : [value].flat()) url.searchParams.append(name, each);
    }
    const startedAt = clock.now();
    const report = (result: string) =>
      reportCall(transport, `${method} ${api}`, result, startedAt, `${method} ${url.href}`);

    let status: number;
    let reply: string;
    let location: string;
    try {
      const headers = await credentials.getRequestHeaders(url.href);
      if (body !== undefined) headers.set('content-type', 'application/json');
      if (reason !== undefined) headers.set(reasonHeader, reason);
      for (const [name, value] of Object.entries(more)) headers.set(name, value);
      const text = body === undefined ? {} : { body: JSON.stringify(body) };
      [status, reply, location] = await connections.observe('fetch', url.origin, () =>
        within(callSeconds * 1000, async (signal) => {
          const response = await send(url, { method, headers, ...text, signal });
          return [response.status, await response.text(), response.headers.get('location') ?? ''];
        }),
      );
    } catch (error) {
      report('no answer');
      throw problemOf(unanswered(error), doing, error);
    }
    report(String(status));
    if (status < 200 || status > 299) throw problemOf(faultOfReply(status, reply), doing);
    if (as === 'text') return reply as T;
    if (as === 'location') return location as T;
    try {
      return (reply === '' ? {} : JSON.parse(reply)) as T;
    } catch (error) {
      throw new Problem('cloud-unavailable', `Could not ${doing}: the answer is no JSON.`, { cause: error });
    }
  };

/** fetch hides the reason in `cause`. The metadata server's answer must not look like the API's. */
function unanswered(error: unknown) {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return { ...faultOfThrown(cause), http: undefined };
}
