/**
 * The bearer token of each call: `PLINTH_TOKEN`, the token of `plinth login`, or one of the service account of Application
 * Default Credentials.
 */
import { claimsOf } from '../../shared/oauth.js';
import { Problem } from '../../shared/problems.js';
import { loginClientOf, type Settings } from '../settings.js';
import { type Credentials, checkKeepable, readCredentials, writeCredentials } from './credentials-file.js';
import { defaultCredentials, problemBehind } from './default-credentials.js';
import { fetchFederatedIdToken } from './federated-token.js';
import { aloneWithLogin } from './login-lock.js';
import { discover, requestTokens } from './oauth.js';

export interface Token {
  /** `renew`: the last token was refused. A token is also renewed before it expires. */
  get(renew?: boolean): Promise<string>;
  readonly renewable: boolean;
}

const marginMs = 5 * 60_000;

/** Refuses tokens that can't be sent in a header, because later errors would quote them. `interrupted`: Ctrl-C. */
export function createToken(settings: Settings, audience: string, interrupted?: AbortSignal): Token {
  const given = settings.token;
  if (given !== undefined) return { get: async () => sendable(given, 'PLINTH_TOKEN'), renewable: false };
  let held: Held | undefined;
  return {
    renewable: true,
    async get(renew = false) {
      if (held === undefined || renew || Date.now() > held.expiresAt - marginMs) {
        held =
          (await ofLogin(settings, renew ? held?.token : undefined, interrupted)) ??
          (await fetchIdToken(settings, audience));
      }
      settings.redactor.register(held.token);
      return sendable(held.token, 'The token of plinth login or of the Application Default Credentials');
    },
  };
}

/** The error names the source of the token, and nothing of its content. */
function sendable(token: string, source: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new Problem(
    'unauthenticated',
    `${source} holds a line break, a space or another character that no token has.`,
    {
      advice: 'Set PLINTH_TOKEN to one ID token and nothing else, or log in with plinth login.',
    },
  );
}

interface Held {
  readonly token: string;
  readonly expiresAt: number;
}

/** Undefined if nobody is logged in. A renewed token is stored for later commands, unless the login has changed. */
async function ofLogin(
  settings: Settings,
  refused: string | undefined,
  interrupted: AbortSignal | undefined,
): Promise<Held | undefined> {
  const credentials = readCredentials(settings);
  if (credentials === undefined) return undefined;
  const usable = ({ idToken: token }: Credentials): Held | undefined => {
    const expiresAt = claimsOf(token).expiresAtMs;
    return token !== refused && Date.now() < expiresAt - marginMs ? { token, expiresAt } : undefined;
  };
  const renew = async (): Promise<Held | undefined> => {
    const standing = readCredentials(settings);
    return standing && (usable(standing) ?? renewed(settings, standing));
  };
  return usable(credentials) ?? aloneWithLogin(settings, renew, interrupted);
}

async function renewed(settings: Settings, credentials: Credentials): Promise<Held> {
  checkKeepable(settings);
  const { issuer, clientId, refreshToken } = credentials;
  // The client secret isn't stored with the login. Another client's secret would not fit.
  const configured = await loginClientOf(settings).catch(() => undefined);
  const clientSecret = configured?.clientId === clientId ? configured.clientSecret : undefined;
  const client = { issuer, clientId, clientSecret };
  const { idToken, refreshToken: rotated } = await requestTokens(
    await discover(client, settings),
    client,
    { refreshToken },
    settings,
  );
  // A command without the lock may have logged out or in meanwhile. Its credentials must not be overwritten.
  if (readCredentials(settings)?.refreshToken === refreshToken) {
    writeCredentials(settings, { ...credentials, idToken, ...(rotated !== undefined && { refreshToken: rotated }) });
  }
  return { token: idToken, expiresAt: claimsOf(idToken).expiresAtMs };
}

async function fetchIdToken(settings: Settings, audience: string): Promise<Held> {
  let token: string;
  try {
    const credentials = await defaultCredentials(settings);
    const { client } = credentials;
    if ('fetchIdToken' in client) token = await client.fetchIdToken(audience);
    else {
      token = await fetchFederatedIdToken(settings, credentials, audience);
    }
  } catch (error) {
    const problem = problemBehind(error);
    if (problem !== undefined) throw problem;
    throw new Problem('unauthenticated', 'plinth found no credentials to say who is calling.', {
      advice:
        'Log in with plinth login, set PLINTH_TOKEN to an ID token, or let GOOGLE_APPLICATION_CREDENTIALS name the credentials of a service account or of a federated identity.',
      cause: error,
    });
  }
  return { token, expiresAt: claimsOf(token).expiresAtMs };
}
