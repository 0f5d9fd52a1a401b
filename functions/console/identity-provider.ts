/**
 * The identity provider as the console asks it, by an OAuth client of type Web. Google wants the client's secret even with
 * PKCE, so a function exchanges the code, and the page never sees the secret.
 */
import {
  discover,
  type Endpoints,
  type Grant,
  type OAuthClient,
  requestTokens,
  type Tokens,
} from '../../shared/oauth.js';

export interface ConsoleClient extends OAuthClient {
  readonly clientSecret: string;
}

const known = new Map<string, Endpoints>();

/** Kept as long as the instance lives. */
export async function endpointsOf(issuer: string): Promise<Endpoints> {
  const endpoints = known.get(issuer) ?? (await discover(issuer, { send: fetch }));
  known.set(issuer, endpoints);
  return endpoints;
}

/** Throws `ProviderRefusal`, or `unavailable` if the provider cannot answer. */
export const tokensFor = async (client: ConsoleClient, grant: Grant): Promise<Tokens> =>
  requestTokens(await endpointsOf(client.issuer), client, grant, { send: fetch });
