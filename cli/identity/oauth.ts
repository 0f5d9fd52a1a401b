/** The identity provider as the command line asks it: over the network, with advice for whoever types commands. */
import {
  discover as discoverBy,
  type Endpoints,
  type Grant,
  type OAuthClient,
  ProviderRefusal,
  requestTokens as requestTokensBy,
  revoke as revokeBy,
  type Tokens,
} from '../../shared/oauth.js';
import { Problem } from '../../shared/problems.js';

/** Ctrl-C aborts `stop`. */
export const discover = ({ issuer }: Pick<OAuthClient, 'issuer'>, stop?: AbortSignal): Promise<Endpoints> =>
  discoverBy(issuer, { send: fetch, stop });

export const revoke = (endpoints: Endpoints, refreshToken: string): Promise<boolean> =>
  revokeBy(endpoints, refreshToken, { send: fetch });

/** Throws `unauthenticated` if the provider refuses. */
export async function requestTokens(
  endpoints: Endpoints,
  client: OAuthClient,
  grant: Grant,
  stop?: AbortSignal,
): Promise<Tokens> {
  try {
    return await requestTokensBy(endpoints, client, grant, { send: fetch, stop });
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error;
    throw new Problem('unauthenticated', error.message, {
      advice:
        error.code === 'invalid_grant'
          ? 'The login has ended or was revoked. Log in again: plinth login.'
          : "Check the deployment's OAuth client (oauth.clientId in the config file), then: plinth login.",
    });
  }
}
