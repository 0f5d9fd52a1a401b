/** Serves the front port's paths beside the APIs: the token issuer's documents, and `/_local/…` for tests and people. */
import { type Identity, jwksPath } from '../identity/identity.js';
import { createOAuth, type OAuthOptions, oauthPaths } from '../identity/oauth.js';
import type { Calls } from './kernel/calls.js';
import type { CallFault, Faults, QuotaFault, StockoutFault } from './kernel/faults.js';
import type { ControlPath } from './kernel/server.js';
import type { NameServers } from './name-servers/name-servers.js';

export interface ControlOptions {
  readonly identity: () => Identity;
  readonly calls: Calls;
  readonly faults: Faults;
  readonly state: () => unknown;
  readonly logins: OAuthOptions;
  readonly nameServers: Pick<NameServers, 'resolver' | 'addresses'> | undefined;
}

/** The body of `POST /_local/faults`: `{type: "call" | "stockout" | "quota", fault: {…}}`. */
type PostedFault =
  | { type: 'call'; fault: CallFault }
  | { type: 'stockout'; fault: StockoutFault }
  | { type: 'quota'; fault: QuotaFault };

export function controlPaths({ identity, calls, faults, state, logins, nameServers }: ControlOptions): ControlPath {
  const oauth = createOAuth(identity, logins);
  return async ({ method, path, query, body }) => {
    switch (`${method} ${path}`) {
      case 'GET /.well-known/openid-configuration': {
        const { issuer, jwksUrl } = identity();
        return {
          status: 200,
          body: {
            issuer,
            jwks_uri: jwksUrl,
            ...oauth.discovery,
            response_types_supported: ['code', 'id_token'],
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: ['RS256'],
          },
        };
      }
      case `GET ${jwksPath}`:
        return { status: 200, body: identity().jwks, headers: { 'cache-control': 'public, max-age=3600' } };
      case `GET ${oauthPaths.authorize}`:
        return oauth.authorize(query);
      case `POST ${oauthPaths.token}`:
        return oauth.token(new URLSearchParams(body));
      case `POST ${oauthPaths.revoke}`:
        return oauth.revoke(new URLSearchParams(body));
      case 'GET /_local/state':
        return { status: 200, body: state() };
      case 'GET /_local/name-servers':
        return {
          status: 200,
          body: nameServers === undefined ? {} : { resolver: nameServers.resolver, addresses: nameServers.addresses },
        };
      case 'GET /_local/calls': {
        const wanted = query.get('method');
        return {
          status: 200,
          body: calls.list({ since: Number(query.get('since') ?? 0), ...(wanted === null ? {} : { method: wanted }) }),
        };
      }
      case 'DELETE /_local/calls':
        calls.clear();
        return { status: 200, body: {} };
      case 'GET /_local/faults':
        return { status: 200, body: faults.list() };
      case 'POST /_local/faults':
        return { status: 201, body: { id: addFault(faults, JSON.parse(body) as PostedFault) } };
      case 'DELETE /_local/faults':
        faults.clear();
        return { status: 200, body: {} };
      case 'POST /_local/token':
        return { status: 200, body: await tokensFor(identity(), body) };
      default: {
        const fault = /^DELETE \/_local\/faults\/([\w-]+)$/.exec(`${method} ${path}`)?.[1];
        if (fault === undefined) return undefined;
        faults.remove(fault);
        return { status: 200, body: {} };
      }
    }
  };
}

async function tokensFor(identity: Identity, body: string): Promise<object> {
  const { email, audience, hd, lifeSeconds } = JSON.parse(body) as {
    email: string;
    audience?: string;
    hd?: string;
    lifeSeconds?: number;
  };
  const life = lifeSeconds === undefined ? {} : { lifeSeconds };
  return {
    accessToken: identity.accessToken(email, lifeSeconds),
    ...(audience === undefined ? {} : { idToken: await identity.idToken({ email, audience, hd, ...life }) }),
  };
}

function addFault(faults: Faults, posted: PostedFault): string {
  switch (posted.type) {
    case 'call':
      return faults.add(posted.fault);
    case 'stockout':
      return faults.stockout(posted.fault);
    case 'quota':
      return faults.quota(posted.fault);
  }
}
