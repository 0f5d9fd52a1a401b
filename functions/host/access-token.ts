/** Access tokens of the function's identity, for what is no call of a Google client. */
import type { Compute } from 'google-auth-library';
import type { Config } from '../config.js';

/** Kept until shortly before a token's end. With `fresh`, a new one is asked for. */
export function createTokenSource(
  config: Pick<Config, 'serviceAccount'>,
  answerSeconds?: number,
): (fresh: boolean) => Promise<string> {
  let client: Promise<Compute> | undefined;
  const load = async (): Promise<Compute> => {
    const { FunctionIdentity } = await import('./credentials.js');
    return new FunctionIdentity({ serviceAccountEmail: config.serviceAccount, answerSeconds });
  };
  return async (fresh) => {
    client ??= load();
    const known = await client;
    if (fresh) await known.refreshAccessToken();
    const { token } = await known.getAccessToken();
    if (typeof token !== 'string') throw new Error('the metadata server gave no access token');
    return token;
  };
}
