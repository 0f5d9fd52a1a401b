/** Wraps Resource Manager's organizations: the companies above folders and projects, with the names that policies give them. */
import { createRest, type Transport } from './rest.js';

export interface Organization {
  /** `organizations/<number>` */
  readonly name: string;
  /** The primary domain of the customer. Nobody can give it another name. */
  readonly displayName: string;
  /** `C` and letters and digits, as policies of domains name it. */
  readonly directoryCustomerId: string;
}

export function createOrganizations(transport: Transport) {
  const rest = createRest(transport, 'cloudresourcemanager');
  return {
    /**
     * Those of which plinth holds `resourcemanager.organizations.get`: one, or none. See
     * https://cloud.google.com/resource-manager/reference/rest/v3/organizations
     */
    async seen(): Promise<readonly Organization[]> {
      const doing = 'look which organizations plinth may see';
      const path = '/v3/organizations:search';
      return (await rest<{ organizations?: Organization[] }>('GET', path, { doing })).organizations ?? [];
    },
  };
}
