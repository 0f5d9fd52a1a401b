/**
 * A client of an identity provider: OAuth 2 with PKCE (RFC 7636), with endpoints by OpenID Connect Discovery. It separates
 * what the provider refuses from what it cannot answer now, so that nobody is sent to sign in again for an outage.
 */
import { createHash } from 'node:crypto';
import { reasonOf } from './network-reason.js';
import { Problem } from './problems.js';
import { within } from './time-limit.js';

export interface OAuthClient {
  readonly issuer: string;
  readonly clientId: string;
  /** Google requires it from desktop clients, too, but does not treat it as a secret there. */
  readonly clientSecret: string | undefined;
}

export interface Endpoints {
  readonly authorization: string;
  readonly token: string;
  readonly revocation: string | undefined;
}

export interface Tokens {
  readonly idToken: string;
  /** Google sends it only when a person has just agreed. */
  readonly refreshToken: string | undefined;
}

/** How requests are sent. */
export interface Http {
  /** As `fetch` does. A Problem that it throws is passed on. */
  readonly send: (url: string, request: RequestInit & { readonly redirect: 'error' }) => Promise<Response>;
  /** Ends the request. Its reason is thrown. */
  readonly stop?: AbortSignal | undefined;
}

/** The provider answered, and refused. `code` is its own, such as `invalid_grant`. */
export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';
  readonly code: string;
  constructor(code: string) {
    super(`The identity provider refused: ${code}.`);
    this.code = code;
  }
}

const timeoutMs = 20_000;
const [usualRetrySeconds, mostRetrySeconds] = [5, 3600];

const unavailable = (url: string, why: string, cause?: unknown, retryAfterSeconds = usualRetrySeconds): Problem =>
  new Problem('unavailable', `The identity provider at ${new URL(url).origin} ${why}.`, {
    advice: `Check the network and the identity provider, and try again in ${retryAfterSeconds} seconds.`,
    retryAfterSeconds,
    ...(cause !== undefined && { cause }),
  });

const text = (body: unknown, name: string): string | undefined => {
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
};

interface Reply {
  readonly status: number;
  /** Undefined if it is no JSON. */
  readonly body: unknown;
  readonly retryAfterSeconds: number | undefined;
}

async function exchange(url: string, { send, stop }: Http, form?: Readonly<Record<string, string>>): Promise<Reply> {
  const request = { ...(form !== undefined && { method: 'POST', body: new URLSearchParams(form) }) };
  try {
    return await within(
      timeoutMs,
      async (signal) => {
        const response = await send(url, { ...request, redirect: 'error', signal });
        // A network's own login page is no JSON. A connection that ends in the middle of the answer is another matter.
        const answer = await response.text();
        const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
        return {
          status: response.status,
          body: jsonIn(answer),
          retryAfterSeconds: seconds >= 1 ? Math.min(Math.ceil(seconds), mostRetrySeconds) : undefined,
        };
      },
      stop,
    );
  } catch (error) {
    stop?.throwIfAborted();
    if (error instanceof Problem) throw error;
    throw unavailable(url, `cannot be reached: ${reasonOf(error)}`, error);
  }
}

function jsonIn(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch {
    return undefined;
  }
}

/** Tokens and secrets go there, so it is no worse protected than the provider's own address. */
function isEndpoint(url: string | undefined, issuer: string): url is string {
  if (url === undefined || !URL.canParse(url)) return false;
  const { protocol } = new URL(url);
  return protocol === 'https:' || (protocol === 'http:' && issuer.startsWith('http:'));
}

export async function discover(issuer: string, http: Http): Promise<Endpoints> {
  const { status, body, retryAfterSeconds } = await exchange(`${issuer}/.well-known/openid-configuration`, http);
  if (status >= 500 || status === 429 || status === 408) {
    throw unavailable(issuer, `answered ${status}`, undefined, retryAfterSeconds);
  }
  const [authorization, token, revocation] = ['authorization', 'token', 'revocation'].map((name) =>
    text(body, `${name}_endpoint`),
  );
  if (text(body, 'issuer') !== issuer || !isEndpoint(authorization, issuer) || !isEndpoint(token, issuer)) {
    throw new Problem('unavailable', `${issuer} does not publish where people sign in.`, {
      advice: 'Check the address: the provider must serve OpenID Connect Discovery under its own name.',
    });
  }
  return { authorization, token, revocation: isEndpoint(revocation, issuer) ? revocation : undefined };
}

interface SignIn {
  readonly redirectUri: string;
  /** Random, and kept until the answer comes. */
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Where a person agrees. */
export function authorizationUrl(
  { authorization }: Endpoints,
  { clientId }: OAuthClient,
  { redirectUri, state, nonce, verifier }: SignIn,
): string {
  const address = new URL(authorization);
  const query = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid email',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state,
    nonce,
    // Google gives a refresh token only to programs that ask for one, and only when the person has just agreed.
    access_type: 'offline',
    prompt: 'consent',
  };
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
  return address.href;
}

export type Grant =
  | { readonly code: string; readonly redirectUri: string; readonly verifier: string }
  | { readonly refreshToken: string };

const formOf = (grant: Grant): Record<string, string> =>
  'code' in grant
    ? {
        grant_type: 'authorization_code',
        code: grant.code,
        redirect_uri: grant.redirectUri,
        code_verifier: grant.verifier,
      }
    : { grant_type: 'refresh_token', refresh_token: grant.refreshToken };

/** Codes with which a provider says that it cannot answer now, whatever the status. */
const passingCodes = ['temporarily_unavailable', 'server_error', 'slow_down'];

/** Throws `ProviderRefusal`, or `unavailable` if the provider cannot answer. Messages quote only the provider's code. */
export async function requestTokens(
  { token }: Endpoints,
  { clientId, clientSecret }: OAuthClient,
  grant: Grant,
  http: Http,
): Promise<Tokens> {
  const { status, body, retryAfterSeconds } = await exchange(token, http, {
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    ...formOf(grant),
  });
  const idToken = text(body, 'id_token');
  if (status === 200 && idToken !== undefined) return { idToken, refreshToken: text(body, 'refresh_token') };
  const code = text(body, 'error') ?? '';
  const isRefusal = status >= 400 && status < 500 && status !== 408 && status !== 429 && /^[\w-]{1,60}$/.test(code);
  if (isRefusal && !passingCodes.includes(code)) throw new ProviderRefusal(code);
  const why = status === 200 ? 'answered without an ID token' : `answered ${status}`;
  throw unavailable(token, why, undefined, retryAfterSeconds);
}

/** True if the token is revoked, now or earlier. */
export async function revoke({ revocation }: Endpoints, refreshToken: string, http: Http): Promise<boolean> {
  if (revocation === undefined) return false;
  const { status, body } = await exchange(revocation, http, { token: refreshToken });
  return status === 200 || text(body, 'error') === 'invalid_token';
}

export interface Claims {
  readonly email: string | undefined;
  readonly audience: string | undefined;
  readonly nonce: string | undefined;
  /** 0 if unknown. */
  readonly expiresAtMs: number;
}

/** Reads the claims of a token without verifying them. The receiver of the token verifies it. */
export function claimsOf(token: string): Claims {
  // What has not the form of a token has no claims.
  const claims = jsonIn(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const { exp } = (claims ?? {}) as { readonly exp?: unknown };
  return {
    email: text(claims, 'email'),
    audience: text(claims, 'aud'),
    nonce: text(claims, 'nonce'),
    expiresAtMs: typeof exp === 'number' ? exp * 1000 : 0,
  };
}
