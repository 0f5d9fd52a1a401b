/** Serves the front port's paths beside the APIs: the token issuer's documents, and `/_local/…` for tests and people. */
import { type Identity, jwksPath } from '../identity/identity.js';
import { createOAuth, type OAuthOptions, oauthPaths } from '../identity/oauth.js';
import { BadControl, numberIn, onlyKnown, readTokenRequest, setFault } from './control-bodies.js';
import type { Calls } from './kernel/calls.js';
import type { Faults } from './kernel/faults.js';
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

export function controlPaths(options: ControlOptions): ControlPath {
  const issuer = issuerPaths(options);
  const local = localPaths(options);
  return async (request) => {
    if (!request.path.startsWith('/_local')) return issuer(request);
    try {
      return (await local(request)) ?? refusal(404, `There is no ${request.method} ${request.path}.`);
    } catch (error) {
      if (!(error instanceof BadControl)) throw error;
      return refusal(400, error.message);
    }
  };
}

const refusal = (code: number, message: string) => ({ status: code, body: { error: { code, message } } });

/** The token issuer's documents and endpoints. */
function issuerPaths({ identity, logins }: ControlOptions): ControlPath {
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
      default:
        return undefined;
    }
  };
}

/** For tests and people. */
function localPaths({ identity, calls, faults, state, nameServers }: ControlOptions): ControlPath {
  return async ({ method, path, query, body }) => {
    switch (`${method} ${path}`) {
      case 'GET /_local/state':
        return { status: 200, body: state() };
      case 'GET /_local/name-servers':
        return {
          status: 200,
          body: nameServers === undefined ? {} : { resolver: nameServers.resolver, addresses: nameServers.addresses },
        };
      case 'GET /_local/calls': {
        onlyKnown(query, ['method', 'since']);
        const wanted = query.get('method');
        return {
          status: 200,
          body: calls.list({ since: numberIn(query, 'since', 0), ...(wanted === null ? {} : { method: wanted }) }),
        };
      }
      case 'DELETE /_local/calls':
        calls.clear();
        return { status: 200, body: {} };
      case 'GET /_local/faults':
        return { status: 200, body: faults.list() };
      case 'POST /_local/faults':
        return { status: 201, body: { id: setFault(faults, body) } };
      case 'DELETE /_local/faults':
        faults.clear();
        return { status: 200, body: {} };
      case 'POST /_local/token': {
        const { email, audience, hd, lifeSeconds } = readTokenRequest(body);
        const life = lifeSeconds === undefined ? {} : { lifeSeconds };
        return {
          status: 200,
          body: {
            accessToken: identity().accessToken(email, lifeSeconds),
            ...(audience === undefined ? {} : { idToken: await identity().idToken({ email, audience, hd, ...life }) }),
          },
        };
      }
      default: {
        const fault = /^DELETE \/_local\/faults\/([\w-]+)$/.exec(`${method} ${path}`)?.[1];
        if (fault === undefined) return undefined;
        faults.remove(fault);
        return { status: 200, body: {} };
      }
    }
  };
}
