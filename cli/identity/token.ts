/** The bearer token of each call: `PLINTH_TOKEN`, or that of `plinth login`, or one of the service account of Application Default Credentials. */
import { Problem } from '../../shared/problems.js';
import { loginClientOf, type Settings } from '../settings.js';
import type { Credentials } from './credentials-file.js';

export interface Token {
  /** `renew`: the last one was refused. Renewed by itself before it runs out. */
  get(renew?: boolean): Promise<string>;
  readonly renewable: boolean;
}

const marginMs = 5 * 60_000;

/** Tokens that cannot stand in a header are refused here: what refuses them later quotes them. `interrupted`: Ctrl-C. */
export function createToken(settings: Settings, audience: string, interrupted?: AbortSignal): Token {
  const given = settings.token;
  if (given !== undefined) return { get: async () => sendable(given, 'PLINTH_TOKEN'), renewable: false };
  let held: Held | undefined;
  return {
    renewable: true,
    async get(renew = false) {
      if (held === undefined || renew || Date.now() > held.expiresAt - marginMs) {
        held =
          (await ofLogin(settings, renew ? held?.token : undefined, interrupted)) ?? (await fetchIdToken(audience));
      }
      return sendable(held.token, 'The token of plinth login or of the Application Default Credentials');
    },
  };
}

/** Says where it is from, and nothing of what is in it. */
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

/** Undefined: nobody is logged in. The token is kept for the next commands, while its login stands. */
async function ofLogin(
  settings: Settings,
  refused: string | undefined,
  interrupted: AbortSignal | undefined,
): Promise<Held | undefined> {
  const { readCredentials } = await import('./credentials-file.js');
  const credentials = readCredentials(settings);
  if (credentials === undefined) return undefined;
  const [{ claimsOf }, { aloneWithLogin }] = await Promise.all([import('./oauth.js'), import('./login-lock.js')]);
  const usable = ({ idToken: token }: Credentials): Held | undefined => {
    const { expiresAt } = claimsOf(token);
    return token !== refused && Date.now() < expiresAt - marginMs ? { token, expiresAt } : undefined;
  };
  const renew = async (): Promise<Held | undefined> => {
    const standing = readCredentials(settings);
    return standing && (usable(standing) ?? renewed(settings, standing));
  };
  return usable(credentials) ?? aloneWithLogin(settings, renew, interrupted);
}

async function renewed(settings: Settings, credentials: Credentials): Promise<Held> {
  const [{ checkKeepable, readCredentials, writeCredentials }, { claimsOf, doorsOf, grant }] = await Promise.all([
    import('./credentials-file.js'),
    import('./oauth.js'),
  ]);
  checkKeepable(settings);
  const { issuer, clientId, refreshToken } = credentials;
  // The client's secret is not kept with the login; another client's would not fit.
  const configured = await loginClientOf(settings).catch(() => undefined);
  const clientSecret = configured?.clientId === clientId ? configured.clientSecret : undefined;
  const client = { issuer, clientId, clientSecret };
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
  const { idToken, refreshToken: rotated } = await grant(await doorsOf(client), client, form);
  // Who could have no lock may have logged out meanwhile, or in: what stands by now is theirs.
  if (readCredentials(settings)?.refreshToken === refreshToken) {
    writeCredentials(settings, { ...credentials, idToken, ...(rotated !== undefined && { refreshToken: rotated }) });
  }
  return { token: idToken, expiresAt: claimsOf(idToken).expiresAt };
}

async function fetchIdToken(audience: string): Promise<{ token: string; expiresAt: number }> {
  // Costs 45 ms to load; who has a token need not pay for it.
  const { GoogleAuth } = await import('google-auth-library');
  try {
    const client = await new GoogleAuth().getIdTokenClient(audience);
    const token = await client.idTokenProvider.fetchIdToken(audience);
    return { token, expiresAt: expiryOf(token) };
  } catch (error) {
    throw new Problem('unauthenticated', 'plinth found no credentials to say who is calling.', {
      advice:
        'Log in with plinth login, set PLINTH_TOKEN to an ID token, or let GOOGLE_APPLICATION_CREDENTIALS name the credentials of a service account.',
      cause: error,
    });
  }
}

function expiryOf(token: string): number {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp?: unknown };
    return typeof exp === 'number' ? exp * 1000 : 0;
  } catch {
    return 0;
  }
}
