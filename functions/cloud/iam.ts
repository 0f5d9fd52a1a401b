/** Wraps IAM's service accounts. plinth never makes keys. */
import { orUndefined } from './errors.js';
import { createRest, type Transport } from './rest.js';

export interface ServiceAccount {
  readonly email: string;
  readonly displayName?: string;
  readonly disabled?: boolean;
}

export function createIam(transport: Transport) {
  const rest = createRest(transport, 'iam');
  return {
    get: (projectId: string, email: string) =>
      orUndefined(
        rest<ServiceAccount>('GET', `/v1/projects/${projectId}/serviceAccounts/${email}`, {
          doing: `read the service account ${email}`,
        }),
      ),

    create: (projectId: string, accountId: string, displayName: string) =>
      rest<ServiceAccount>('POST', `/v1/projects/${projectId}/serviceAccounts`, {
        doing: `create the service account ${accountId} in ${projectId}`,
        body: { accountId, serviceAccount: { displayName } },
      }),
  };
}
