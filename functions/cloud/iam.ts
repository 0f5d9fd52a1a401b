/** Wraps IAM's service accounts. plinth never makes keys. */
import { orUndefined } from './errors.js';
import { createPolicy, type Policy, policyVersion } from './policy.js';
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

    /** Those of these permissions that plinth has on the account. None if there is no such account. */
    async held(projectId: string, email: string, permissions: readonly string[]): Promise<readonly string[]> {
      const path = `/v1/projects/${projectId}/serviceAccounts/${email}:testIamPermissions`;
      const doing = `ask what plinth may do with the service account ${email}`;
      const asked = rest<{ permissions?: string[] }>('POST', path, { doing, body: { permissions } });
      return (await orUndefined(asked))?.permissions ?? [];
    },

    /** Who may use the account itself. */
    policy: (projectId: string, email: string) =>
      createPolicy({
        read: () =>
          rest<Policy>('POST', `/v1/projects/${projectId}/serviceAccounts/${email}:getIamPolicy`, {
            doing: `read the policy of the service account ${email}`,
            query: { 'options.requestedPolicyVersion': String(policyVersion) },
          }),
        write: (policy) =>
          rest<Policy>('POST', `/v1/projects/${projectId}/serviceAccounts/${email}:setIamPolicy`, {
            doing: `change the policy of the service account ${email}`,
            body: { policy },
          }),
      }),
  };
}
