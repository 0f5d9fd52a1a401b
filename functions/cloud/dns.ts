/** Wraps Cloud DNS: zones, their records and policies. */
import { orUndefined } from './errors.js';
import { createPolicy, type Policy, policyVersion } from './policy.js';
import { createRest, type Rest, type Transport } from './rest.js';

export interface Zone {
  readonly name: string;
  /** With the final dot. */
  readonly dnsName: string;
  readonly nameServers?: readonly string[];
}

export interface RecordSet {
  /** With the final dot. */
  readonly name: string;
  readonly type: string;
  readonly ttl?: number;
  readonly rrdatas?: readonly string[];
}

export interface Change {
  readonly id: string;
  readonly status: 'pending' | 'done';
  readonly additions?: readonly RecordSet[];
  readonly deletions?: readonly RecordSet[];
}

export function createDns(transport: Transport) {
  const rest = createRest(transport, 'dns');
  const zonesPath = (project: string) => `/dns/v1/projects/${project}/managedZones`;
  return {
    zone: (project: string, zone: string) =>
      orUndefined(
        rest<Zone>('GET', `${zonesPath(project)}/${zone}`, { doing: `read the DNS zone ${zone} of ${project}` }),
      ),

    held: (project: string, zone: string, permissions: readonly string[]) =>
      held(rest, `${zonesPath(project)}/${zone}`, permissions),

    createZone: (project: string, zone: string, dnsName: string, description: string) =>
      rest<Zone>('POST', zonesPath(project), {
        doing: `create the DNS zone ${zone} for ${dnsName} in ${project}`,
        body: { name: zone, dnsName, description },
      }),

    /** All pages. */
    async records(project: string, zone: string): Promise<RecordSet[]> {
      const all: RecordSet[] = [];
      let pageToken: string | undefined;
      do {
        const page: { rrsets?: RecordSet[]; nextPageToken?: string } = await rest(
          'GET',
          `${zonesPath(project)}/${zone}/rrsets`,
          { doing: `list the records of the DNS zone ${zone} of ${project}`, query: { pageToken } },
        );
        all.push(...(page.rrsets ?? []));
        pageToken = page.nextPageToken;
      } while (pageToken !== undefined && pageToken !== '');
      return all;
    },

    /** Atomic. A deletion must match the existing record exactly. An addition must not exist yet. */
    change: (
      project: string,
      zone: string,
      change: { readonly additions: readonly RecordSet[]; readonly deletions: readonly RecordSet[] },
    ) =>
      rest<Change>('POST', `${zonesPath(project)}/${zone}/changes`, {
        doing: `change records of the DNS zone ${zone} of ${project}`,
        body: change,
      }),

    /** The latest changes, newest first. */
    async changes(project: string, zone: string): Promise<readonly Change[]> {
      const { changes = [] } = await rest<{ changes?: Change[] }>('GET', `${zonesPath(project)}/${zone}/changes`, {
        doing: `list the changes of the DNS zone ${zone} of ${project}`,
        query: { sortBy: 'changeSequence', sortOrder: 'descending', maxResults: '50' },
      });
      return changes;
    },

    policy: (project: string, zone: string) =>
      createPolicy({
        read: () =>
          rest<Policy>('POST', `${zonesPath(project)}/${zone}:getIamPolicy`, {
            doing: `read the policy of the DNS zone ${zone} of ${project}`,
            body: { options: { requestedPolicyVersion: policyVersion } },
          }),
        write: (policy) =>
          rest<Policy>('POST', `${zonesPath(project)}/${zone}:setIamPolicy`, {
            doing: `change the policy of the DNS zone ${zone} of ${project}`,
            body: { policy },
          }),
      }),
  };
}

/** Those of the permissions that plinth has on the zone. None if there is no such zone. */
async function held(rest: Rest, zone: string, permissions: readonly string[]): Promise<readonly string[]> {
  const doing = `ask what plinth may do with ${zone.replace('/dns/v1/', '')}`;
  const body = { permissions };
  const asked = rest<{ permissions?: string[] }>('POST', `${zone}:testIamPermissions`, { doing, body });
  return (await orUndefined(asked))?.permissions ?? [];
}
