/** Application Default Credentials, by Google's library, whose requests go the way of all others. */
import { globalAgent } from 'node:http';
import type { AnyAuthClient, gaxios } from 'google-auth-library';
import { Problem } from '../../shared/problems.js';
import { proxyVariables } from '../../shared/proxy-variables.js';
import { send } from '../network/send.js';
import type { Settings } from '../settings.js';

export interface DefaultCredentials {
  readonly client: AnyAuthClient;
  /** An access token of a federated identity itself, and not of the service account that it acts as. */
  federatedToken(): Promise<string | undefined>;
  /** The file that they are from, as it stands there. Undefined for those of the metadata server. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
}

/** The problem that our own way out met: the library wraps some errors, and passes others on. */
export const problemBehind = (error: unknown): Problem | undefined =>
  [error, (error as Error).cause].find((each) => each instanceof Problem) as Problem | undefined;

type Options = gaxios.GaxiosOptions;

/** Throws what the library throws. Loading it takes 45 ms, so call this only if no other credentials exist. */
export async function defaultCredentials(
  { env }: Pick<Settings, 'env'>,
  scopes?: readonly string[],
): Promise<DefaultCredentials> {
  const { GoogleAuth, gaxios: library } = await import('google-auth-library');
  const options = proxyVariables.some((name) => (env[name] ?? '') !== '') ? byOurWay(env) : {};
  // The library asks the metadata server by this one.
  Object.assign(library.instance.defaults, options);
  const auth = new GoogleAuth({
    ...(scopes !== undefined && { scopes: [...scopes] }),
    clientOptions: { transporterOptions: options },
    // Otherwise it looks for one: by gcloud, and for a federated identity by exchanging its token. Nothing needs it.
    projectId: 'unused',
  });
  const routed = <T extends object>(client: T): T => {
    // It exchanges tokens by a transporter of its own, which takes no options.
    const { stsCredential } = client as { stsCredential?: { transporter?: { defaults: Options } } };
    Object.assign(stsCredential?.transporter?.defaults ?? {}, options);
    return client;
  };
  const client = routed((await auth.getClient()) as AnyAuthClient);
  return {
    client,
    async federatedToken() {
      // The library's own ways to a second client write warnings to stderr.
      const { token } = await Object.assign(client, { serviceAccountImpersonationUrl: undefined }).getAccessToken();
      return token ?? undefined;
    },
    json: (auth.jsonContent ?? undefined) as DefaultCredentials['json'],
  };
}

/** Left to itself, the library reads the variables in a way of its own: without ranges, ports and loopback. */
const byOurWay = (env: Settings['env']): Options => ({
  // With an agent it makes none for a proxy. Nothing uses this one.
  agent: globalAgent,
  fetchImplementation: ((url: string | URL, init: RequestInit) =>
    send(env, url, { ...init, redirect: 'error' })) as typeof fetch,
});
