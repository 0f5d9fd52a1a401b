/**
 * A stand-in for forge1's API (GitHub's REST API): owners and scopes of tokens, members of teams, and their SSH keys. Lists
 * come in pages.
 */
import type { IncomingMessage } from 'node:http';
import { type LoopbackServer, listenNear } from '../loopback.js';

interface Forge1World {
  /** Personal access tokens and their scopes. */
  tokens: Record<string, readonly string[]>;
  /** `<org>/<slug>` → logins. */
  teams: Record<string, readonly string[]>;
  /** Login → public SSH keys. */
  keys: Record<string, readonly string[]>;
}

/** A token that may do everything plinth asks for. */
export const forge1Pat = 'local-forge1-token';
/** A token without `read:org`. */
export const forge1NarrowPat = 'local-forge1-token-narrow';

const publicKey = (n: number): string => {
  const text = Buffer.from('ssh-ed25519');
  const length = (size: number) => Buffer.from([0, 0, 0, size]);
  const key = Buffer.concat([length(text.length), text, length(32), Buffer.alloc(32, n)]);
  return `ssh-ed25519 ${key.toString('base64')}`;
};

const firstWorld = (): Forge1World => ({
  tokens: { [forge1Pat]: ['read:packages', 'read:org'], [forge1NarrowPat]: ['read:packages'] },
  teams: { 'example/platform': ['alice', 'bob', 'carol'] },
  keys: { alice: [publicKey(1), publicKey(2), publicKey(3)], bob: [publicKey(4)], carol: [] },
});

/** Smaller than GitHub's 100, so that even small teams have several pages. */
const longestPage = 2;

export interface Forge1 {
  readonly url: string;
  readonly port: number;
  /** May change at any time. */
  readonly world: Forge1World;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Takes `preferredPort` if it is free. */
export async function startForge1(preferredPort = 0): Promise<Forge1> {
  const world = firstWorld();

  function answer(request: IncomingMessage, url: URL): Answer {
    const token = /^(?:bearer|token) (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    const scopes = token === undefined ? undefined : world.tokens[token];
    if (request.headers['user-agent'] === undefined) return { status: 403, body: { message: 'User-Agent is missing' } };
    if (scopes === undefined) return { status: 401, body: { message: 'Bad credentials' } };
    const headers = { 'x-oauth-scopes': scopes.join(', ') };
    const missing: Answer = { status: 404, body: { message: 'Not Found' }, headers };

    const list = (items: readonly object[] | undefined): Answer => {
      if (items === undefined) return missing;
      const page = Number(url.searchParams.get('page') ?? 1);
      const size = Math.min(longestPage, Number(url.searchParams.get('per_page') ?? 30));
      const next = new URL(url);
      next.searchParams.set('page', String(page + 1));
      const link = page * size < items.length ? { link: `<${next.href}>; rel="next"` } : {};
      return { status: 200, body: items.slice((page - 1) * size, page * size), headers: { ...headers, ...link } };
    };

    const path = url.pathname.split('/').slice(1).map(decodeURIComponent);
    const [kind, name = '', what, slug, members] = path;
    if (request.method !== 'GET') return missing;
    if (kind === 'user' && path.length === 1) return { status: 200, body: { login: 'alice' }, headers };
    if (kind === 'orgs' && what === 'teams' && members === 'members' && scopes.includes('read:org')) {
      return list(world.teams[`${name}/${slug}`]?.map((login) => ({ login, type: 'User' })));
    }
    if (kind === 'users' && what === 'keys') return list(world.keys[name]?.map((key, i) => ({ id: i + 1, key })));
    return missing;
  }

  const self: LoopbackServer = await listenNear((request, response) => {
    const { status, body, headers } = answer(request, new URL(request.url ?? '/', self.url));
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
    response.end(JSON.stringify(body));
  }, preferredPort);
  return { url: self.url, port: self.port, world, close: self.close };
}
