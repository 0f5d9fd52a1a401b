/** The variables that make plinth and gcloud use a local stack. */
import { gcloudEnvironment } from '../cloud/gcloud.js';
import type { Stack, Tokens } from './stack.js';
import type { StateFolder } from './state-folder.js';

export type Environment = Readonly<Record<string, string>>;

/** The variables for one person. */
export const environmentFor = (
  { url, record }: Pick<Stack, 'url' | 'record'>,
  folder: Pick<StateFolder, 'file'>,
  { idToken, accessToken }: Tokens,
): Environment => ({
  // Missing while the functions are not served yet.
  ...(url === '' ? {} : { PLINTH_ENDPOINT: url }),
  PLINTH_TOKEN: idToken,
  PLINTH_ISSUER: record.issuerUrl,
  PLINTH_DNS_RESOLVER: record.dns.resolver,
  ...(record.sshProxyUrl === undefined ? {} : { PLINTH_SSH_PROXY: record.sshProxyUrl }),
  PLINTH_ACCESS_TOKEN: accessToken,
  PLINTH_IAP_TUNNEL_URL: record.iapTunnelUrl,
  PLINTH_ENDPOINT_OSLOGIN: record.endpoints.oslogin,
  PLINTH_ENDPOINT_SECRETMANAGER: record.endpoints.secretmanager,
  ...gcloudEnvironment({ frontUrl: record.frontUrl, accessToken, configFolder: folder.file('gcloud') }),
});

/** `KEY=value` lines; no value needs quotes. */
export const environmentLines = (...of: Parameters<typeof environmentFor>): string[] =>
  Object.entries(environmentFor(...of)).map(([name, value]) => `${name}=${value}`);
