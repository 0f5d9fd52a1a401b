/** Checks what a forge1 token may do and see, before plinth creates anything with it. */
import { Problem } from '../../../shared/problems.js';
import { timeLimit } from '../../../shared/time-limit.js';

const flag = '--forge1-pat';
const timeoutMs = 10_000;

/** The scopes that include each needed scope, by forge1's own rules. */
const needed: Readonly<Record<string, readonly string[]>> = {
  'read:packages': ['read:packages', 'write:packages'],
  'read:org': ['read:org', 'write:org', 'admin:org'],
};

const refused = (message: string): Problem =>
  new Problem('bad-input', `${flag}: ${message}`, {
    errors: [{ path: flag, message }],
    advice: `Give another token with ${flag}: a classic one with read:packages and read:org.`,
  });

const unreachable = (why: string, retryAfterSeconds: number, cause?: unknown): Problem =>
  new Problem('unavailable', `The forge1 token cannot be checked now: ${why}.`, { retryAfterSeconds, cause });

interface Access {
  /** A setting of the deployment. */
  readonly apiUrl: string;
  readonly token: string;
  readonly signal?: AbortSignal | undefined;
}

async function ask({ apiUrl, token, signal }: Access, path: string): Promise<Response> {
  const reply = await fetch(`${apiUrl}${path}`, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'user-agent': 'plinth' },
    // The token goes only where the setting says, never where a redirect leads.
    redirect: 'error',
    signal: AbortSignal.any([timeLimit(timeoutMs), ...(signal === undefined ? [] : [signal])]),
  }).catch((error: unknown) => {
    throw unreachable('forge1 does not answer', 5, error);
  });
  await reply.body?.cancel();
  return reply;
}

const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

/** `apiUrl` is a setting of the deployment. Throws unless the token has all needed scopes. */
export async function checkForge1Token(apiUrl: string, token: string, signal?: AbortSignal): Promise<void> {
  if (!isToken(token)) throw refused('holds characters that no token has');
  const reply = await ask({ apiUrl, token, signal }, '/user');
  if (reply.status === 401) throw refused('forge1 does not know this token; it may have expired');
  if (!reply.ok) throw unreachable(`forge1 answers ${reply.status}`, Number(reply.headers.get('retry-after')) || 30);
  const scopes = reply.headers.get('x-oauth-scopes');
  if (scopes === null)
    throw refused('forge1 names no scopes of this token; make a classic one with read:packages and read:org');
  const held = new Set(scopes.split(',').map((scope) => scope.trim()));
  const missing = Object.keys(needed).filter((scope) => !needed[scope]?.some((each) => held.has(each)));
  if (missing.length > 0) throw refused(`lacks the scope ${missing.join(' and ')}`);
}

/** Throws if forge1 reports no such team. Ignores a faulty token, which its own check reports. */
export async function checkForge1Team(access: Access, org: string, slug: string): Promise<void> {
  if (!isToken(access.token)) return;
  const { status } = await ask(
    access,
    `/orgs/${encodeURIComponent(org)}/teams/${encodeURIComponent(slug)}/members?per_page=1`,
  );
  if (status !== 404) return;
  const message = `name no team that forge1 lets this token see: ${JSON.stringify(`${org}/${slug}`)}`;
  throw new Problem('bad-input', `--forge1-team-org and --forge1-team-slug ${message}`, {
    errors: ['--forge1-team-org', '--forge1-team-slug'].map((path) => ({ path, message })),
    advice: 'Check both, and that the token of --forge1-pat has the scope read:org.',
  });
}
