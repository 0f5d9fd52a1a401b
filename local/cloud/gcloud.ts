/** The environment variables that make gcloud use a simulated cloud, over plain HTTP and without an account. */

import { apis } from './apis.js';
import type { Api } from './kernel/api.js';
import { knownGcloudEndpoints } from './kernel/known.js';

export interface GcloudCloud {
  readonly frontUrl: string;
  /** The token of the identity that gcloud acts as. */
  readonly accessToken: string;
  /** A folder of its own, so that gcloud leaves the user's real configuration alone. */
  readonly configFolder: string;
}

/** gcloud's endpoints by property. The simulated APIs' own rows count where both know one. */
const endpoints = (): Readonly<Record<string, string>> => ({
  ...knownGcloudEndpoints(),
  ...Object.fromEntries(
    Object.entries<Api>(apis).flatMap(([host, { gcloudBase }]) =>
      gcloudBase === undefined ? [] : [[host, `${host}/${gcloudBase}`]],
    ),
  ),
});

/** Tells where Compute is to programs that know gcloud's variables. */
export const computeEnvironment = (computeUrl: string): Record<string, string> => ({
  CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE: `${computeUrl}/compute/v1/`,
});

export const gcloudEnvironment = ({ frontUrl, accessToken, configFolder }: GcloudCloud): Record<string, string> => ({
  // All of them: no command may reach a real host. What is not simulated answers 501.
  ...Object.fromEntries(
    Object.entries(endpoints()).map(([property, endpoint]) => {
      const [host = '', ...path] = endpoint.split('/');
      return [
        `CLOUDSDK_API_ENDPOINT_OVERRIDES_${property.toUpperCase()}`,
        `${frontUrl}/${host}.googleapis.com/${path.join('/')}`,
      ];
    }),
  ),
  CLOUDSDK_AUTH_ACCESS_TOKEN: accessToken,
  CLOUDSDK_CONFIG: configFolder,
  CLOUDSDK_CORE_CHECK_GCE_METADATA: 'false',
  CLOUDSDK_CORE_DISABLE_PROMPTS: '1',
});
