/**
 * Talks to the issuer of people's tokens: OAuth for desktop programs (RFC 8252), with PKCE (RFC 7636) and a redirect to
 * loopback. The issuer publishes its endpoints (OpenID Connect Discovery).
 */
import { Problem } from '../../shared/problems.js';
import { timeLimit } from '../../shared/time-limit.js';
import { reasonOf } from '../service/answer-problem.js';
import type { LoginClient } from '../settings.js';

export interface Doors {
  readonly authorize: string;
  readonly token: string;
  readonly revoke: string | undefined;
}

export interface Granted {
  readonly idToken: string;
  /** Present only when a person has just agreed. */
  readonly refreshToken: string | undefined;
}

const timeoutMs = 20_000;

interface Asked {
  readonly form?: Readonly<Record<string, string>>;
  /** Ctrl-C aborts it. */
  readonly interrupted?: AbortSignal | undefined;
}

async function ask(url: string, { form, interrupted }: Asked = {}): Promise<{ status: number; body: unknown }> {
  try {
    const response = await fetch(url, {
      ...(form !== undefined && { method: 'POST', body: new URLSearchParams(form) }),
      redirect: 'error',
      signal: interrupted === undefined ? timeLimit(timeoutMs) : AbortSignal.any([timeLimit(timeoutMs), interrupted]),
    });
    return { status: response.status, body: await response.json().catch(() => undefined) };
  } catch (error) {
    interrupted?.throwIfAborted();
    throw new Problem(
      'unavailable',
      `The token issuer at ${new URL(url).origin} cannot be reached: ${reasonOf(error)}.`,
      {
        advice: 'Check the network, and the issuer if your deployment has one of its own, and try again.',
        cause: error,
      },
    );
  }
}

const text = (body: unknown, name: string): string | undefined => {
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
};

export async function doorsOf({ issuer }: Pick<LoginClient, 'issuer'>, interrupted?: AbortSignal): Promise<Doors> {
  const { body } = await ask(`${issuer}/.well-known/openid-configuration`, { interrupted });
  const [authorize, token] = [text(body, 'authorization_endpoint'), text(body, 'token_endpoint')];
  if (text(body, 'issuer') !== issuer || authorize === undefined || token === undefined) {
    throw new Problem('unavailable', `${issuer} does not say where people log in.`, {
      advice: 'Check the issuer: it must serve OpenID Connect Discovery under its own name.',
    });
  }
  return { authorize, token, revoke: text(body, 'revocation_endpoint') };
}

/** Throws `unauthenticated` if the issuer refuses. The message quotes only the error code of its answer. */
export async function grant(
  { token }: Doors,
  { clientId, clientSecret }: LoginClient,
  form: Readonly<Record<string, string>>,
  interrupted?: AbortSignal,
): Promise<Granted> {
  const { status, body } = await ask(token, {
    form: {
      client_id: clientId,
      // Google requires it from desktop clients too, but doesn't treat it as a secret.
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
      ...form,
    },
    interrupted,
  });
  const idToken = text(body, 'id_token');
  if (status === 200 && idToken !== undefined) return { idToken, refreshToken: text(body, 'refresh_token') };
  const code = text(body, 'error') ?? `status ${status}`;
  if (status >= 500) throw new Problem('unavailable', `The token issuer answered ${status}.`, { retryAfterSeconds: 5 });
  throw new Problem('unauthenticated', `The token issuer refused: ${code}.`, {
    advice:
      code === 'invalid_grant'
        ? 'The login has ended or was revoked. Log in again: plinth login.'
        : "Check the deployment's OAuth client (oauth.clientId in the config file), then: plinth login.",
  });
}

/** True if the token is revoked, now or earlier. */
export async function revoke({ revoke: door }: Doors, refreshToken: string): Promise<boolean> {
  if (door === undefined) return false;
  const { status, body } = await ask(door, { form: { token: refreshToken } });
  return status === 200 || text(body, 'error') === 'invalid_token';
}

export interface Claims {
  readonly email: string | undefined;
  readonly audience: string | undefined;
  readonly nonce: string | undefined;
  readonly expiresAt: number;
}

/** Reads the claims of a token without verifying them. The receiver of the token verifies it. */
export function claimsOf(token: string): Claims {
  let claims: Record<string, unknown> = {};
  try {
    claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
  } catch {
    // Not in the form of a token, so its claims are unknown.
  }
  const { exp } = claims;
  return {
    email: text(claims, 'email'),
    audience: text(claims, 'aud'),
    nonce: text(claims, 'nonce'),
    expiresAt: typeof exp === 'number' ? exp * 1000 : 0,
  };
}
