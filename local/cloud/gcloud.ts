/** The variables that make gcloud talk to a simulated cloud, over plain HTTP and without an account. Used for the env file of `npm run local` and by the conformance tests. */

/** gcloud's name of an API → where its base lies beneath the front. */
const bases: Readonly<Record<string, string>> = {
  ARTIFACTREGISTRY: 'artifactregistry.googleapis.com/',
  CLOUDBILLING: 'cloudbilling.googleapis.com/',
  CLOUDRESOURCEMANAGER: 'cloudresourcemanager.googleapis.com/',
  CLOUDSCHEDULER: 'cloudscheduler.googleapis.com/',
  COMPUTE: 'compute.googleapis.com/compute/v1/',
  DNS: 'dns.googleapis.com/dns/v1/',
  IAM: 'iam.googleapis.com/',
  PUBLICCA: 'publicca.googleapis.com/',
  PUBSUB: 'pubsub.googleapis.com/',
  SECRETMANAGER: 'secretmanager.googleapis.com/',
  SERVICEUSAGE: 'serviceusage.googleapis.com/',
  STORAGE: 'storage.googleapis.com/storage/v1/',
};

export interface GcloudCloud {
  readonly frontUrl: string;
  /** Of whom gcloud shall act as. */
  readonly accessToken: string;
  /** A folder of its own, so that nobody's real configuration is touched. */
  readonly configFolder: string;
}

export const gcloudEnvironment = ({ frontUrl, accessToken, configFolder }: GcloudCloud): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(bases).map(([name, base]) => [`CLOUDSDK_API_ENDPOINT_OVERRIDES_${name}`, `${frontUrl}/${base}`]),
  ),
  CLOUDSDK_AUTH_ACCESS_TOKEN: accessToken,
  CLOUDSDK_CONFIG: configFolder,
  CLOUDSDK_CORE_CHECK_GCE_METADATA: 'false',
  CLOUDSDK_CORE_DISABLE_PROMPTS: '1',
});
