/** The environment variables that make gcloud use a simulated cloud, over plain HTTP and without an account. */

import { apis } from './apis.js';
import type { Api } from './kernel/api.js';

export interface GcloudCloud {
  readonly frontUrl: string;
  /** The token of the identity that gcloud acts as. */
  readonly accessToken: string;
  /** A folder of its own, so that gcloud leaves the user's real configuration alone. */
  readonly configFolder: string;
}

export const gcloudEnvironment = ({ frontUrl, accessToken, configFolder }: GcloudCloud): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries<Api>(apis).flatMap(([host, { gcloudBase }]) =>
      gcloudBase === undefined
        ? []
        : [
            [
              `CLOUDSDK_API_ENDPOINT_OVERRIDES_${host.toUpperCase()}`,
              `${frontUrl}/${host}.googleapis.com/${gcloudBase}`,
            ] as const,
          ],
    ),
  ),
  CLOUDSDK_AUTH_ACCESS_TOKEN: accessToken,
  CLOUDSDK_CONFIG: configFolder,
  CLOUDSDK_CORE_CHECK_GCE_METADATA: 'false',
  CLOUDSDK_CORE_DISABLE_PROMPTS: '1',
});
