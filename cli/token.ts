/** The bearer token of each call: `PLINTH_TOKEN`, or an ID token of the service account of Application Default Credentials. */
import { Problem } from '../shared/problems.js';

export interface Token {
  /** `renew`: the last one was refused. Renewed by itself before it runs out. */
  get(renew?: boolean): Promise<string>;
  readonly renewable: boolean;
}

const marginMs = 5 * 60_000;

export function createToken(given: string | undefined, audience: string): Token {
  if (given !== undefined) return { get: async () => given, renewable: false };
  let held: { readonly token: string; readonly expiresAt: number } | undefined;
  return {
    renewable: true,
    async get(renew = false) {
      if (held === undefined || renew || Date.now() > held.expiresAt - marginMs) held = await fetchIdToken(audience);
      return held.token;
    },
  };
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
        'Set PLINTH_TOKEN to an ID token, or let GOOGLE_APPLICATION_CREDENTIALS name the credentials of a service account.',
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
