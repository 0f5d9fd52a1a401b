/** Regions as Google has them, by plain REST: what compute.ts costs to load is too much for a function that answers people. */
import { orUndefined } from './errors.js';
import { createRest, type Transport } from './rest.js';

export function createPlaces(transport: Transport) {
  const rest = createRest(transport, 'compute');
  return {
    /** Names of the region's zones, as the project sees them; undefined: there is no such region. */
    async zonesOf(project: string, region: string): Promise<readonly string[] | undefined> {
      const path = `/compute/v1/projects/${project}/regions/${region}`;
      const found = await orUndefined(
        rest<{ zones?: readonly string[] }>('GET', path, { doing: `look for the region ${region}` }),
      );
      return found?.zones?.map((link) => link.replace(/^.*\//, ''));
    },
  };
}
