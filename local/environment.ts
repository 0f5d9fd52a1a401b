/** The variables that make plinth and gcloud talk to a local stack. Written by `npm run local`, used by demo and tests. */
import type { Stack, Tokens } from './stack.js';
import type { StateFolder } from './state-folder.js';

/** gcloud's name of an API → the path of that API's base beneath the front. */
const gcloudApis: Readonly<Record<string, string>> = {
  ARTIFACTREGISTRY: 'artifactregistry.googleapis.com/',
  CLOUDBILLING: 'cloudbilling.googleapis.com/',
  CLOUDRESOURCEMANAGER: 'cloudresourcemanager.googleapis.com/',
  COMPUTE: 'compute.googleapis.com/compute/v1/',
  DNS: 'dns.googleapis.com/dns/v1/',
  IAM: 'iam.googleapis.com/',
  PUBLICCA: 'publicca.googleapis.com/',
  PUBSUB: 'pubsub.googleapis.com/',
  SECRETMANAGER: 'secretmanager.googleapis.com/',
  SERVICEUSAGE: 'serviceusage.googleapis.com/',
};

export type Environment = Readonly<Record<string, string>>;

/** As one person. */
export const environmentFor = (
  { url, record }: Pick<Stack, 'url' | 'record'>,
  folder: Pick<StateFolder, 'file'>,
  { idToken, accessToken }: Tokens,
): Environment => ({
  PLINTH_ENDPOINT: url,
  PLINTH_TOKEN: idToken,
  PLINTH_ISSUER: record.issuerUrl,
  ...Object.fromEntries(
    Object.entries(gcloudApis).map(([name, path]) => [
      `CLOUDSDK_API_ENDPOINT_OVERRIDES_${name}`,
      `${record.frontUrl}/${path}`,
    ]),
  ),
  CLOUDSDK_AUTH_ACCESS_TOKEN: accessToken,
  CLOUDSDK_CONFIG: folder.file('gcloud'),
  CLOUDSDK_CORE_CHECK_GCE_METADATA: 'false',
  CLOUDSDK_CORE_DISABLE_PROMPTS: '1',
});

/** `KEY=value` lines; no value needs quotes. */
export const environmentLines = (...of: Parameters<typeof environmentFor>): string[] =>
  Object.entries(environmentFor(...of)).map(([name, value]) => `${name}=${value}`);
