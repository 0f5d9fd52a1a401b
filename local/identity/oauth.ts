/**
 * The token issuer's endpoints for people, locally: authorize, token and revoke. They are as strict as Google's are with a
 * client for desktops and with one of type Web. There is no password: the caller names the e-mail address.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Identity } from './identity.js';
import { openLogins } from './logins.js';

interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly type?: string;
  readonly headers?: Record<string, string>;
}

export interface OAuth {
  readonly discovery: Readonly<Record<string, unknown>>;
  authorize(query: URLSearchParams): Reply;
  token(form: URLSearchParams): Promise<Reply>;
  revoke(form: URLSearchParams): Reply;
}

export const oauthPaths = { authorize: '/o/oauth2/v2/auth', token: '/token', revoke: '/revoke' } as const;

/** The OAuth clients of the local deployment: one for desktops, and the console's, of type Web. */
export const oauthClients = {
  desktop: { id: 'plinth-local.apps.example.com' },
  console: { id: 'plinth-local-console.apps.example.com', secret: 'GOCSPX-local-secret-of-the-console' },
} as const;

interface ClientKind {
  readonly id: string;
  /** Without it nothing is exchanged. Undefined: a desktop client, whose secret is none. */
  readonly secret?: string;
  /** Where people may be sent back to, and why to nowhere else. */
  readonly redirects: RegExp;
  readonly elsewhere: string;
}

const clients: readonly ClientKind[] = [
  {
    ...oauthClients.desktop,
    redirects: /^http:\/\/(127\.0\.0\.1|\[::1\]):\d+(\/|$)/,
    elsewhere: 'A desktop client is redirected to loopback alone.',
  },
  {
    ...oauthClients.console,
    redirects: /^http:\/\/127\.0\.0\.1:\d+\/console\/callback$/,
    elsewhere: 'The redirect URI is not among those of the client.',
  },
];
const clientOf = (id: string): ClientKind | undefined => clients.find((each) => each.id === id);

interface Asked {
  readonly clientId: string;
  readonly email: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly nonce: string | undefined;
  readonly expiresAt: number;
}

/** Google's codes live ten minutes. */
const codeLifeMs = 10 * 60_000;
const random = (prefix: string): string => `${prefix}${randomBytes(32).toString('base64url')}`;
const refusal = (error: string, description: string, status = 400): Reply => ({
  status,
  body: { error, error_description: description },
});

export interface OAuthOptions {
  /** The file that stores logins. */
  readonly loginsFile?: string | undefined;
  /**
   * Each refresh token works once and is replaced by the next. Using one twice ends the login. Google's tokens do not change.
   */
  readonly takesTokensOnce?: boolean | undefined;
}

/** A refresh token is of the client that asked for it. */
const loginsByClient = ({ loginsFile, takesTokensOnce }: OAuthOptions) =>
  new Map(
    clients.map(({ id, secret }) => {
      const logins = openLogins(secret === undefined ? loginsFile : loginsFile?.replace(/\.json$/, '-web.json'));
      return [id, { logins, renewed: createRenewal(logins, takesTokensOnce) }];
    }),
  );

export function createOAuth(identity: () => Identity, options: OAuthOptions = {}): OAuth {
  const codes = new Map<string, Asked>();
  const ofClient = loginsByClient(options);

  const idTokenFor = (clientId: string, email: string, nonce?: string): Promise<string> => {
    const hd = email.slice(email.lastIndexOf('@') + 1);
    return identity().idToken({ email, audience: clientId, hd, nonce });
  };
  const answer = async (clientId: string, email: string, more: object, nonce?: string): Promise<Reply> => ({
    status: 200,
    headers: { 'cache-control': 'no-store' },
    body: {
      access_token: identity().accessToken(email),
      expires_in: 3599,
      scope: 'openid https://www.googleapis.com/auth/userinfo.email',
      token_type: 'Bearer',
      id_token: await idTokenFor(clientId, email, nonce),
      ...more,
    },
  });

  const renew = async (clientId: string, refreshToken: string): Promise<Reply> => {
    const login = ofClient.get(clientId)?.renewed(refreshToken);
    if (login === undefined) return refusal('invalid_grant', 'Token has been expired or revoked.');
    return answer(clientId, login.email, login.next === undefined ? {} : { refresh_token: login.next });
  };

  return {
    get discovery() {
      const { issuer } = identity();
      return {
        authorization_endpoint: `${issuer}${oauthPaths.authorize}`,
        token_endpoint: `${issuer}${oauthPaths.token}`,
        revocation_endpoint: `${issuer}${oauthPaths.revoke}`,
        code_challenge_methods_supported: ['S256'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
      };
    },

    authorize: (query) => authorize(codes, query),

    async token(form) {
      const value = (name: string): string => form.get(name) ?? '';
      const fault = clientFault(value);
      if (fault !== undefined) return refusal(...fault);
      const clientId = value('client_id');
      if (value('grant_type') === 'refresh_token') return renew(clientId, value('refresh_token'));
      if (value('grant_type') !== 'authorization_code') return refusal('unsupported_grant_type', 'Invalid grant_type');
      const asked = codes.get(value('code'));
      // Whatever the outcome, a code is good for one try.
      codes.delete(value('code'));
      const refused = exchangeFault(asked, value);
      if (asked === undefined || refused !== undefined) return refusal(...(refused ?? malformed));
      const refreshToken = random('1//');
      ofClient.get(clientId)?.logins.add(refreshToken, asked.email);
      return answer(clientId, asked.email, { refresh_token: refreshToken }, asked.nonce);
    },

    revoke(form) {
      return [...ofClient.values()].some(({ logins }) => logins.remove(form.get('token') ?? ''))
        ? { status: 200, body: {} }
        : refusal('invalid_token', 'Token expired or revoked');
    },
  };
}

/** The login of a refresh token, and the token that replaces it. Undefined if the token is no longer valid. */
function createRenewal(logins: ReturnType<typeof openLogins>, takesTokensOnce = false) {
  /** Used refresh tokens and the tokens that replaced them. */
  const successors = new Map<string, string>();
  return (refreshToken: string): { readonly email: string; readonly next?: string } | undefined => {
    const email = logins.emailOf(refreshToken);
    if (email === undefined) {
      // It may have been stolen, from or by the holder of the next one: RFC 9700, 4.14.2.
      for (let at = successors.get(refreshToken); at !== undefined; at = successors.get(at)) logins.remove(at);
      return undefined;
    }
    if (!takesTokensOnce) return { email };
    const next = random('1//');
    logins.remove(refreshToken);
    logins.add(next, email);
    successors.set(refreshToken, next);
    return { email, next };
  };
}

function authorize(codes: Map<string, Asked>, query: URLSearchParams): Reply {
  const value = (name: string): string => query.get(name) ?? '';
  const fault = faultOf(value);
  if (fault !== undefined) return refusal(...fault);
  const email = value('email');
  if (!/^\S+@\S+$/.test(email)) return { status: 200, type: 'text/html; charset=utf-8', body: formPage(query) };
  const code = random('4/');
  codes.set(code, {
    clientId: value('client_id'),
    email,
    redirectUri: value('redirect_uri'),
    challenge: value('code_challenge'),
    nonce: query.get('nonce') ?? undefined,
    expiresAt: Date.now() + codeLifeMs,
  });
  const back = new URL(value('redirect_uri'));
  back.searchParams.set('state', value('state'));
  back.searchParams.set('code', code);
  return { status: 302, body: {}, headers: { location: back.href } };
}

type Fault = readonly [error: string, description: string, status?: number];
const malformed: Fault = ['invalid_grant', 'Malformed auth code.'];

/** As Google does: a client of type Web proves itself by its secret, whatever else it brings. */
function clientFault(value: (name: string) => string): Fault | undefined {
  const client = clientOf(value('client_id'));
  if (client === undefined) return ['invalid_client', 'The OAuth client was not found.'];
  if (client.secret === undefined || client.secret === value('client_secret')) return undefined;
  return value('client_secret') === ''
    ? ['invalid_request', 'client_secret is missing.']
    : ['invalid_client', 'The provided client secret is invalid.', 401];
}

/** Why a code is not exchanged for tokens. */
function exchangeFault(asked: Asked | undefined, value: (name: string) => string): Fault | undefined {
  if (asked === undefined || asked.expiresAt < Date.now() || asked.clientId !== value('client_id')) return malformed;
  if (asked.redirectUri !== value('redirect_uri')) return ['redirect_uri_mismatch', 'Bad Request'];
  const challenge = createHash('sha256').update(value('code_verifier')).digest('base64url');
  const isGood = /^[\w.~-]{43,128}$/.test(value('code_verifier')) && challenge === asked.challenge;
  return isGood ? undefined : ['invalid_grant', 'Invalid code verifier.'];
}

function faultOf(value: (name: string) => string): Fault | undefined {
  const client = clientOf(value('client_id'));
  if (client === undefined) return ['invalid_client', 'The OAuth client was not found.'];
  if (value('response_type') !== 'code') return ['unsupported_response_type', 'Only code is served.'];
  const redirect = value('redirect_uri');
  if (!URL.canParse(redirect) || !client.redirects.test(redirect)) return ['redirect_uri_mismatch', client.elsewhere];
  const scopes = value('scope').split(' ');
  if (!scopes.includes('openid') || !scopes.includes('email')) return ['invalid_scope', 'openid and email are needed.'];
  if (value('code_challenge_method') !== 'S256' || !/^[\w-]{43}$/.test(value('code_challenge'))) {
    return ['invalid_request', 'A code challenge by S256 is needed.'];
  }
  return value('state') === '' ? ['invalid_request', 'state is missing.'] : undefined;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

const formPage = (query: URLSearchParams): string =>
  [
    '<!doctype html><title>Log in</title><form>',
    ...[...query]
      .filter(([name]) => name !== 'email')
      .map(([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`),
    '<label>E-mail address <input name="email" type="email" autofocus></label> <button>Log in</button></form>',
  ].join('\n');
