/**
 * The Google access token that opens IAP's tunnels: `PLINTH_ACCESS_TOKEN`, the one of gcloud, or that of Application Default
 * Credentials. It goes to Google alone. plinth's own service gets another token.
 */
import { Problem } from '../../shared/problems.js';
import type { Settings } from '../settings.js';
import { defaultCredentials, problemBehind } from './default-credentials.js';
import { type AccessToken, askGcloud, type GcloudAnswer } from './gcloud-token.js';

export interface FoundToken extends AccessToken {
  /** Where it is from, for people. */
  readonly from: string;
}

/** Nobody says how long it lives, so its source is asked again after that. */
const unknownLifeMs = 60_000;
const marginMs = 5 * 60_000;
const scope = 'https://www.googleapis.com/auth/cloud-platform';

type Parts = Pick<Settings, 'env' | 'folder' | 'accessToken' | 'redactor'>;

/** A token, kept until shortly before its end. With `fresh`, the former one was refused. */
export function createAccessToken(settings: Parts, interrupted?: AbortSignal): (fresh: boolean) => Promise<string> {
  let held: { readonly token: string; readonly until: number } | undefined;
  return async (fresh) => {
    if (held !== undefined && !fresh && Date.now() < held.until) return held.token;
    try {
      const { token, expiresAt } = await findAccessToken(settings, { fresh, interrupted });
      held = { token, until: expiresAt === undefined ? Date.now() + unknownLifeMs : expiresAt - marginMs };
      return token;
    } catch (error) {
      // A standing connection may outlive a network that is away, so its tunnel may ask again.
      if (held !== undefined && error instanceof Problem && settings.accessToken === undefined) {
        throw new Error(`${error.detail} ${error.advice}`, { cause: error });
      }
      throw error;
    }
  };
}

interface Ask {
  readonly fresh?: boolean;
  readonly interrupted?: AbortSignal | undefined;
}

/** Throws `unauthenticated`, with what to run. The token is registered. */
export async function findAccessToken(settings: Parts, ask: Ask = {}): Promise<FoundToken> {
  const found = await findToken(settings, ask);
  settings.redactor.register(found.token);
  return found;
}

async function findToken(settings: Parts, { fresh = false, interrupted }: Ask): Promise<FoundToken> {
  const { accessToken: given, env } = settings;
  if (given !== undefined) return givenToken(given, fresh);
  const named = env['GOOGLE_APPLICATION_CREDENTIALS'] ?? '';
  const byGcloud = async () => from('gcloud', await askGcloud(settings, fresh, interrupted));
  const byDefault = async () => from('Application Default Credentials', await askDefaultCredentials(settings, fresh));
  // Whoever names a file of credentials means these.
  const [first, second] = named === '' ? [byGcloud, byDefault] : [byDefault, byGcloud];
  const one = await first();
  if ('found' in one) return one.found;
  const other = await second();
  if ('found' in other) return other.found;
  const gcloud = named === '' ? one : other;
  const why = [one.why, other.why].join('; ');
  throw new Problem('unauthenticated', `There is no Google access token for IAP, OS Login or Secret Manager: ${why}.`, {
    advice: gcloud.isMissing
      ? 'Install gcloud and run “gcloud auth login”. Without gcloud, set PLINTH_ACCESS_TOKEN to an access token.'
      : 'Log in as yourself: “gcloud auth login”. Then run the command again.',
  });
}

const from = (source: string, asked: GcloudAnswer<AccessToken>): GcloudAnswer<FoundToken> =>
  'found' in asked ? { found: { ...asked.found, from: source } } : asked;

function givenToken(given: string, fresh: boolean): FoundToken {
  const advice = 'Set it to a fresh access token, or unset it and run “gcloud auth login”.';
  if (fresh) throw new Problem('unauthenticated', 'Google refuses the token in PLINTH_ACCESS_TOKEN.', { advice });
  if (!/^[\x21-\x7e]+$/.test(given)) {
    throw new Problem('unauthenticated', 'PLINTH_ACCESS_TOKEN holds a character that no token has.', { advice });
  }
  return { token: given, expiresAt: undefined, account: undefined, from: 'PLINTH_ACCESS_TOKEN' };
}

async function askDefaultCredentials(settings: Parts, fresh: boolean): Promise<GcloudAnswer<AccessToken>> {
  try {
    const { client } = await defaultCredentials(settings, [scope]);
    const { token } = await client.getAccessToken();
    if (typeof token !== 'string' || token === '') return { why: 'they gave no access token', isMissing: false };
    const { expiry_date: expiresAt } = client.credentials;
    const account = 'email' in client && typeof client.email === 'string' ? client.email : undefined;
    return { found: { token, expiresAt: expiresAt ?? undefined, account } };
  } catch (error) {
    const problem = problemBehind(error);
    if (problem !== undefined) return { why: problem.detail.replace(/\.$/, ''), isMissing: true };
    const why = 'no Application Default Credentials gave one';
    return { why: fresh ? `${why} anew` : why, isMissing: true };
  }
}
