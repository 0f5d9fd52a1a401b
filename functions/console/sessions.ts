/**
 * Sessions of the console. The cookie holds the tokens, sealed. A document says that the session goes on, under the hash of
 * its id: without the document the cookie is worth nothing, and without the cookie the document tells no secret.
 */
import * as z from 'zod';
import { addSeconds } from '../../shared/add-seconds.js';
import { collections } from '../../shared/names.js';
import { claimsOf, ProviderRefusal, type Tokens } from '../../shared/oauth.js';
import { Problem } from '../../shared/problems.js';
import { sha256 } from '../../shared/sha256.js';
import type { Context } from '../context.js';
import { lift, read } from '../store/lift.js';
import { Conflict } from '../store/store.js';
import { type ConsoleClient, tokensFor } from './identity-provider.js';
import { createSeal, type Seal } from './seal.js';

/** A working day. Then people sign in again. */
export const sessionSeconds = 12 * 3600;
/** A token is renewed when it has less time left. */
const marginMs = 5 * 60_000;

/** `consoleSessions/{hash of the id}`. */
export const SessionRecord = z.object({
  schema: z.literal(1),
  email: z.string(),
  createdAt: z.iso.datetime(),
  endsAt: z.iso.datetime(),
  /** Firestore removes the document some time after. */
  expireAt: z.iso.datetime(),
});
type SessionRecord = z.infer<typeof SessionRecord>;
const liftSession = lift('session', SessionRecord, 1);

const Sealed = z.object({ id: z.string(), idToken: z.string(), refreshToken: z.string().optional() });
type Sealed = z.infer<typeof Sealed>;

type Keeping = Pick<Context, 'store' | 'clock' | 'random'>;

export interface Session {
  readonly email: string;
  readonly idToken: string;
  readonly expiresAt: string;
  readonly endsAt: string;
  /** Of the cookie. Undefined: it stays as it is. */
  readonly sealed: string | undefined;
}

const sealOf = ({ random }: Pick<Context, 'random'>, { clientSecret }: ConsoleClient): Seal =>
  createSeal(random, clientSecret, 'session');
const collection = collections.consoleSessions;

/** Returns what the cookie holds. Every session has a new id, whatever the browser brought. */
export async function beginSession(
  context: Keeping,
  client: ConsoleClient,
  { email, tokens }: { readonly email: string; readonly tokens: Tokens },
): Promise<string> {
  const { store, clock, random } = context;
  const id = random.bytes(32).toString('base64url');
  const now = clock.now();
  const endsAt = addSeconds(now, sessionSeconds);
  const data: SessionRecord = { schema: 1, email, createdAt: now.toISOString(), endsAt, expireAt: endsAt };
  // The id is random, so a second try after a lost answer can only meet its own document.
  await store.commit([{ kind: 'set', collection, id: sha256(id), data }]);
  return sealOf(context, client).seal({ id, ...tokens });
}

async function standing({ store, clock }: Keeping, { id }: Sealed): Promise<SessionRecord | undefined> {
  const found = read(await store.get(collection, sha256(id)), liftSession)?.data;
  return found !== undefined && found.endsAt > clock.now().toISOString() ? found : undefined;
}

/** Undefined: the session has ended, or never was. Renews a token that expires soon. */
export async function findSession(
  context: Keeping,
  client: ConsoleClient,
  cookie: string,
): Promise<Session | undefined> {
  const held = Sealed.safeParse(sealOf(context, client).open(cookie)).data;
  const record = held && (await standing(context, held));
  if (held === undefined || record === undefined) return undefined;
  const { email, endsAt } = record;
  const { expiresAtMs } = claimsOf(held.idToken);
  const session = (idToken: string, sealed?: string): Session => ({
    email,
    idToken,
    endsAt,
    expiresAt: new Date(claimsOf(idToken).expiresAtMs).toISOString(),
    sealed,
  });
  const nowMs = context.clock.now().getTime();
  if (expiresAtMs - nowMs > marginMs) return session(held.idToken);
  if (held.refreshToken === undefined) return expiresAtMs > nowMs ? session(held.idToken) : undefined;
  try {
    const { idToken, refreshToken = held.refreshToken } = await tokensFor(client, { refreshToken: held.refreshToken });
    return session(idToken, sealOf(context, client).seal({ id: held.id, idToken, refreshToken }));
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error;
    // The person has taken plinth's access away, or their account is gone.
    if (error.code === 'invalid_grant') return undefined;
    throw new Problem('unavailable', `The identity provider refuses the client of the console: ${error.code}.`, {
      advice: 'Tell your operator: docs/operate/console.md says how the OAuth client is set up.',
      cause: error,
    });
  }
}

/**
 * Nothing is revoked at the issuer: Google then takes back all that the person agreed to, with it their sessions in other
 * browsers. The refresh token is in the sealed cookie alone, which is worth nothing from here on.
 */
export async function endSession(context: Keeping, client: ConsoleClient, cookie: string): Promise<void> {
  const held = Sealed.safeParse(sealOf(context, client).open(cookie)).data;
  if (held === undefined) return;
  const { store } = context;
  const id = sha256(held.id);
  const found = await store.get(collection, id);
  if (found !== undefined) await store.commit([{ kind: 'delete', collection, id }]).catch(ignoreGone);
}

/** Another tab signed out in the same moment. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof Conflict)) throw error;
}
