/** Wraps reserved addresses. */
import type { ComputeCalls } from './calls.js';
import type { Address, Resource } from './resources.js';

/** A region or the global scope, and the addresses there. */
type InPlace = readonly [string, { readonly addresses?: readonly Address[] | null }];

export const createAddresses = ({ get, list, change }: ComputeCalls) => ({
  address: (project: string, region: string, address: string) =>
    get<Address>('addresses', `read the address ${address}`, { project, region, address }),
  /** The values of all reserved addresses of the project, in all regions and the global scope. */
  async allAddresses(project: string): Promise<string[]> {
    const doing = `list the addresses of ${project}`;
    const places = await list<InPlace>('addresses', 'aggregatedList', doing, { project });
    return places.flatMap(([, { addresses }]) => (addresses ?? []).flatMap(({ address }) => address || []));
  },
  createAddress: (project: string, region: string, resource: Resource, requestId: string) =>
    change('addresses', 'insert', `reserve the address ${resource['name']}`, {
      project,
      region,
      requestId,
      addressResource: resource,
    }),
});
