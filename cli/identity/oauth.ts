/** The identity provider as the command line asks it: over the network, with advice for whoever types commands. */
import {
  discover as discoverBy,
  type Endpoints,
  type Grant,
  type Http,
  type OAuthClient,
  ProviderRefusal,
  requestTokens as requestTokensBy,
  revoke as revokeBy,
  type Tokens,
} from '../../shared/oauth.js';
import { Problem } from '../../shared/problems.js';
import { send } from '../network/send.js';
import type { Settings } from '../settings.js';

/** Ctrl-C aborts `stop`. */
const httpOf = ({ env }: Pick<Settings, 'env'>, stop?: AbortSignal): Http => ({
  send: (url, request) => send(env, url, request),
  stop,
});

export const discover = (
  { issuer }: Pick<OAuthClient, 'issuer'>,
  settings: Pick<Settings, 'env'>,
  stop?: AbortSignal,
): Promise<Endpoints> => discoverBy(issuer, httpOf(settings, stop));

export const revoke = (endpoints: Endpoints, refreshToken: string, settings: Pick<Settings, 'env'>): Promise<boolean> =>
  revokeBy(endpoints, refreshToken, httpOf(settings));

/** Throws `unauthenticated` if the provider refuses. */
export async function requestTokens(
  endpoints: Endpoints,
  client: OAuthClient,
  grant: Grant,
  settings: Pick<Settings, 'env'>,
  stop?: AbortSignal,
): Promise<Tokens> {
  try {
    return await requestTokensBy(endpoints, client, grant, httpOf(settings, stop));
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
