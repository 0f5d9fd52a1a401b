/**
 * The issuer as the console's OAuth client of type Web speaks to it. Google wants the client's secret even with PKCE, so a
 * function exchanges the code, and the page never sees it.
 */
import * as z from 'zod';
import { Problem } from '../../shared/problems.js';
import { timeLimit } from '../../shared/time-limit.js';

export interface Client {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Refused by the issuer. `code` is its own, such as `invalid_grant`. */
export class RefusedByIssuer extends Error {
  override readonly name = 'RefusedByIssuer';
  readonly code: string;
  constructor(code: string) {
    super(`The issuer refused: ${code}.`);
    this.code = code;
  }
}

const Doors = z.object({
  issuer: z.string(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
});
type Doors = z.infer<typeof Doors>;

const Granted = z.object({ id_token: z.string().min(1), refresh_token: z.string().min(1).optional() });

export interface Tokens {
  readonly idToken: string;
  readonly refreshToken: string | undefined;
}

const patienceMs = 10_000;
const known = new Map<string, Doors>();

async function ask(url: string, form?: Readonly<Record<string, string>>): Promise<{ status: number; body: unknown }> {
  try {
    const reply = await fetch(url, {
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
      redirect: 'error',
      signal: timeLimit(patienceMs),
    });
    return { status: reply.status, body: await reply.json().catch(() => undefined) };
  } catch (cause) {
    throw unavailable('cannot be reached', cause);
  }
}

const unavailable = (why: string, cause?: unknown): Problem =>
  new Problem('unavailable', `The issuer ${why}, so nobody can sign in now.`, { retryAfterSeconds: 5, cause });

/** By OpenID Connect Discovery. Kept as long as the instance lives. */
export async function doorsOf(issuer: string): Promise<Doors> {
  const standing = known.get(issuer);
  if (standing !== undefined) return standing;
  const { body } = await ask(`${issuer}/.well-known/openid-configuration`);
  const doors = Doors.safeParse(body);
  if (!doors.success || doors.data.issuer !== issuer) throw unavailable('does not say where people sign in');
  known.set(issuer, doors.data);
  return doors.data;
}

/** Throws `RefusedByIssuer`, or `unavailable` if the issuer cannot answer. */
export async function grant(client: Client, form: Readonly<Record<string, string>>): Promise<Tokens> {
  const doors = await doorsOf(client.issuer);
  const { status, body } = await ask(doors.token_endpoint, {
    client_id: client.clientId,
    client_secret: client.clientSecret,
    ...form,
  });
  const granted = Granted.safeParse(body);
  if (status === 200 && granted.success) {
    return { idToken: granted.data.id_token, refreshToken: granted.data.refresh_token };
  }
  if (status >= 500 || status === 429 || status === 408) throw unavailable(`answers ${status}`);
  const { error } = z.object({ error: z.string().regex(/^[\w-]{1,60}$/) }).safeParse(body).data ?? {};
  throw new RefusedByIssuer(error ?? `status ${status}`);
}

const Claims = z.object({ exp: z.number(), nonce: z.string().optional() });

/** Claims of a token that somebody else verifies. */
export function claimsOf(token: string): { readonly expiresAtMs: number; readonly nonce: string | undefined } {
  try {
    const claims = Claims.parse(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()));
    return { expiresAtMs: claims.exp * 1000, nonce: claims.nonce };
  } catch {
    return { expiresAtMs: 0, nonce: undefined };
  }
}
