/** Addresses that are reserved. */
import type { ComputeCalls } from './calls.js';
import type { Address, Resource } from './resources.js';

/** A place, and what is there. */
type InPlace = readonly [string, { readonly addresses?: readonly Address[] | null }];

export const createAddresses = ({ get, list, change }: ComputeCalls) => ({
  address: (project: string, region: string, address: string) =>
    get<Address>('addresses', `read the address ${address}`, { project, region, address }),
  /** The values of all addresses that are reserved in the project, wherever they are. */
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
