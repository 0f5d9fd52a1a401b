/** Reads the members of a team and their SSH keys from forge1's API (GitHub's REST API). */
import * as z from 'zod';
import { Problem } from '../../../shared/problems.js';
import { timeLimit } from '../../../shared/time-limit.js';

export interface Forge1Access {
  /** Base URL, a setting of the deployment. Never a caller's value. */
  readonly apiUrl: string;
  readonly token: string;
  readonly signal?: AbortSignal;
}

/** Beyond these bounds, something is wrong, or the keys would not fit into a VM's metadata. */
const bounds = { pages: 20, members: 500, bodyBytes: 2_000_000, keysBytes: 128 * 1024, secondsACall: 20 };
const membersAtOnce = 8;

/** The public SSH keys of all members of the team, `<type> <base64> <login>`, sorted. */
export async function teamKeys(access: Forge1Access, org: string, slug: string): Promise<string[]> {
  const team = `/orgs/${encodeURIComponent(org)}/teams/${encodeURIComponent(slug)}/members`;
  const members = await all(
    access,
    team,
    z.object({ login: z.string().min(1) }),
    `the team ${slug} of the organization ${org}`,
  );
  if (members.length > bounds.members) {
    throw new Problem('bad-input', `The team ${slug} of ${org} has more than ${bounds.members} members.`);
  }
  const lines: string[] = [];
  for (let from = 0; from < members.length; from += membersAtOnce) {
    const some = await Promise.all(
      members.slice(from, from + membersAtOnce).map(async ({ login }) => {
        const path = `/users/${encodeURIComponent(login)}/keys`;
        const keys = await all(access, path, z.object({ key: z.string() }), `the SSH keys of ${login}`);
        return keys.flatMap(({ key }) => keyLine(key, login));
      }),
    );
    lines.push(...some.flat());
  }
  const keys = [...new Set(lines)].sort();
  if (keys.reduce((bytes, key) => bytes + key.length, 0) > bounds.keysBytes) {
    throw new Problem('bad-input', `The SSH keys of the team ${slug} of ${org} are too many for a machine's metadata.`);
  }
  return keys;
}

/** A key in one line, as `authorized_keys` takes it. Anything else that a stranger may have put there is dropped. */
function keyLine(key: string, login: string): string[] {
  const match = /^(ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-nistp\d+|sk-[a-z0-9@.-]+) ([A-Za-z0-9+/]+=*)(?: [^\r\n]*)?$/.exec(
    key.trim(),
  );
  return match === null || !/^[\w.-]+$/.test(login) ? [] : [`${match[1]} ${match[2]} ${login}`];
}

/** All pages of a list, by `Link: <…>; rel="next"`. */
async function all<T>(access: Forge1Access, path: string, item: z.ZodType<T>, what: string): Promise<T[]> {
  const items: T[] = [];
  const base = new URL(trimmed(access.apiUrl));
  let next: URL | undefined = new URL(`${trimmed(access.apiUrl)}${path}?per_page=100`);
  for (let page = 0; next !== undefined; page += 1) {
    if (page === bounds.pages) throw new Problem('bad-input', `forge1 has too many pages for ${what}.`);
    const { body, headers } = await call(access, next, what);
    const parsed = z.array(item).safeParse(body);
    if (!parsed.success) throw new Problem('unavailable', `forge1 answered in an unknown form when asked for ${what}.`);
    items.push(...parsed.data);
    const link = /<([^>]+)>\s*;[^,]*\brel="?next"?/.exec(headers.get('link') ?? '')?.[1];
    next = link === undefined ? undefined : new URL(link, next);
    // The token goes nowhere else.
    if (next !== undefined && next.origin !== base.origin) {
      throw new Problem('unavailable', `forge1 points elsewhere for the next page of ${what}.`);
    }
  }
  return items;
}

async function call(access: Forge1Access, url: URL, what: string): Promise<{ body: unknown; headers: Headers }> {
  // Check before fetch does: fetch's own error would quote the token.
  if (!/^[\x21-\x7e]+$/.test(access.token)) throw refusal(401, new Headers(), what);
  const timeout = timeLimit(bounds.secondsACall * 1000);
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${access.token}`,
        'user-agent': 'plinth',
        'x-github-api-version': '2022-11-28',
      },
      redirect: 'manual',
      signal: access.signal === undefined ? timeout : AbortSignal.any([timeout, access.signal]),
    });
    text = await boundedText(response);
  } catch (error) {
    if (error instanceof Problem) throw error;
    access.signal?.throwIfAborted();
    throw new Problem('unavailable', `forge1 did not answer when asked for ${what}.`, { cause: error });
  }
  if (response.ok) {
    try {
      return { body: JSON.parse(text), headers: response.headers };
    } catch {
      throw new Problem('unavailable', `forge1 answered something else than JSON when asked for ${what}.`);
    }
  }
  throw refusal(response.status, response.headers, what);
}

/** Reads a body, but no more than the bound. */
async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > bounds.bodyBytes)
      throw new Problem('unavailable', 'forge1 answered more than plinth is willing to read.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function refusal(status: number, headers: Headers, what: string): Problem {
  const retryAfter = Number(headers.get('retry-after'));
  const limited = headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after');
  if (status === 429 || (status === 403 && limited)) {
    return new Problem('unavailable', `forge1 asks for fewer calls (asked for ${what}).`, {
      retryAfterSeconds: retryAfter > 0 ? Math.min(retryAfter, 600) : 60,
    });
  }
  if (status === 401) {
    return new Problem('bad-input', `forge1 does not accept the token of --forge1-pat (asked for ${what}).`, {
      errors: [{ path: '--forge1-pat', message: 'is not accepted by forge1' }],
      advice: 'Give a token that has not expired, with the scopes read:packages and read:org.',
    });
  }
  if (status === 403) {
    return new Problem('forbidden', `forge1 does not let the token of --forge1-pat see ${what}.`, {
      advice: 'Give a token with the scope read:org, authorized for the organization.',
    });
  }
  if (status === 404) {
    return new Problem('not-found', `forge1 does not know ${what}, or the token may not see it.`, {
      advice: 'Check --forge1-team-org and --forge1-team-slug, and that the token has the scope read:org.',
    });
  }
  if (status >= 500) return new Problem('unavailable', `forge1 answered ${status} when asked for ${what}.`);
  return new Problem('bad-input', `forge1 answered ${status} when asked for ${what}.`);
}

const trimmed = (url: string) => url.replace(/\/+$/, '');
