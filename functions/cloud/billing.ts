/** Wraps Cloud Billing: which account pays for a project. */
import { isHidden } from './errors.js';
import { createRest, type Transport } from './rest.js';

export interface BillingInfo {
  /** `billingAccounts/<id>`, or empty for none. */
  readonly billingAccountName?: string;
  readonly billingEnabled?: boolean;
}

interface BillingAccount {
  readonly open?: boolean;
}

export function createBilling(transport: Transport) {
  const rest = createRest(transport, 'cloudbilling');
  const path = (projectId: string) => `/v1/projects/${projectId}/billingInfo`;
  /** Those of the permissions that plinth has on the account. */
  const held = async (accountName: string, permissions: readonly string[]): Promise<readonly string[]> => {
    const path = `/v1/${accountName}:testIamPermissions`;
    const doing = `ask what plinth may do with ${accountName}`;
    return (await rest<{ permissions?: string[] }>('POST', path, { doing, body: { permissions } })).permissions ?? [];
  };
  return {
    get: (projectId: string) =>
      rest<BillingInfo>('GET', path(projectId), { doing: `read which billing account pays for ${projectId}` }),

    /** Undefined if there is no such account or plinth may not see it. Google doesn't tell which. */
    async account(accountName: string): Promise<BillingAccount | undefined> {
      try {
        return await rest<BillingAccount>('GET', `/v1/${accountName}`, { doing: `look at ${accountName}` });
      } catch (error) {
        if (isHidden(error)) return undefined;
        throw error;
      }
    },

    /** How many projects the account pays for. */
    async linked(accountName: string): Promise<number> {
      let count = 0;
      let pageToken: string | undefined;
      do {
        const page: { projectBillingInfo?: readonly unknown[]; nextPageToken?: string } = await rest(
          'GET',
          `/v1/${accountName}/projects`,
          { doing: `count the projects that ${accountName} pays for`, query: { pageSize: '100', pageToken } },
        );
        count += page.projectBillingInfo?.length ?? 0;
        pageToken = page.nextPageToken || undefined;
      } while (pageToken !== undefined);
      return count;
    },

    held,

    /** Whether plinth may link projects to the account. */
    mayLink: async (accountName: string): Promise<boolean> =>
      (await held(accountName, ['billing.resourceAssociations.create'])).length > 0,

    /** An empty account unlinks the project. */
    link: (projectId: string, accountName: string) =>
      rest<BillingInfo>('PUT', path(projectId), {
        doing:
          accountName === '' ? `unlink ${projectId} from its billing account` : `link ${projectId} to ${accountName}`,
        body: { billingAccountName: accountName },
      }),
  };
}
