/** Tokens of the function's identity, for what is no call of a Google client. */
import type { Compute, IdTokenClient } from 'google-auth-library';
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

/** By audience, kept until shortly before a token's end. */
export function createIdTokenSource(config: Pick<Config, 'serviceAccount'>): (audience: string) => Promise<string> {
  const clients = new Map<string, Promise<IdTokenClient>>();
  const load = async (targetAudience: string): Promise<IdTokenClient> => {
    const [{ IdTokenClient }, { FunctionIdentity }] = await Promise.all([
      import('google-auth-library'),
      import('./credentials.js'),
    ]);
    const idTokenProvider = new FunctionIdentity({ serviceAccountEmail: config.serviceAccount });
    return new IdTokenClient({ targetAudience, idTokenProvider });
  };
  return async (audience) => {
    const client = clients.get(audience) ?? load(audience);
    clients.set(audience, client);
    const headers = await (await client).getRequestHeaders();
    return (headers.get('authorization') ?? '').replace(/^Bearer /, '');
  };
}
