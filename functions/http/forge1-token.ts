/** Looks at what a forge1 token may do, before anything is made with it. Called where a bootstrap begins. */
import { Problem } from '../../shared/problems.js';
import { timeLimit } from '../../shared/time-limit.js';

const flag = '--forge1-pat';
const timeoutMs = 10_000;

/** What each needed scope is contained in, by forge1's own rules. */
const needed: Readonly<Record<string, readonly string[]>> = {
  'read:packages': ['read:packages', 'write:packages'],
  'read:org': ['read:org', 'write:org', 'admin:org'],
};

const refused = (message: string): Problem =>
  new Problem('bad-input', `${flag}: ${message}`, { errors: [{ path: flag, message }] });

const unreachable = (why: string, retryAfterSeconds: number, cause?: unknown): Problem =>
  new Problem('unavailable', `The forge1 token cannot be checked now: ${why}.`, { retryAfterSeconds, cause });

/** `apiUrl` is a setting of the deployment. Throws unless the token has all scopes that are needed. */
export async function checkForge1Token(apiUrl: string, token: string, signal?: AbortSignal): Promise<void> {
  if (!/^[\x21-\x7e]+$/.test(token)) throw refused('holds characters that no token has');
  const reply = await fetch(`${apiUrl}/user`, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'user-agent': 'plinth' },
    // The token goes where the setting says, and nowhere that an answer says.
    redirect: 'error',
    signal: AbortSignal.any([timeLimit(timeoutMs), ...(signal === undefined ? [] : [signal])]),
  }).catch((error: unknown) => {
    throw unreachable('forge1 does not answer', 5, error);
  });
  await reply.body?.cancel();
  if (reply.status === 401) throw refused('forge1 does not know this token; it may have expired');
  if (!reply.ok) throw unreachable(`forge1 answers ${reply.status}`, Number(reply.headers.get('retry-after')) || 30);
  const scopes = reply.headers.get('x-oauth-scopes');
  if (scopes === null)
    throw refused('forge1 names no scopes of this token; make a classic one with read:packages and read:org');
  const held = new Set(scopes.split(',').map((scope) => scope.trim()));
  const missing = Object.keys(needed).filter((scope) => !needed[scope]?.some((each) => held.has(each)));
  if (missing.length > 0) throw refused(`lacks the scope ${missing.join(' and ')}`);
}
