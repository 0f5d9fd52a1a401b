/** Reads Google's regions and zones by plain REST. Compute Engine's clients take too long to load in a function that answers people. */
import { orUndefined } from './errors.js';
import { createRest, type Transport } from './rest.js';

export function createPlaces(transport: Transport) {
  const rest = createRest(transport, 'compute');
  return {
    /** Names of the region's zones, as the project sees them. Undefined if there is no such region. */
    async zonesOf(project: string, region: string): Promise<readonly string[] | undefined> {
      const path = `/compute/v1/projects/${project}/regions/${region}`;
      const found = await orUndefined(
        rest<{ zones?: readonly string[] }>('GET', path, { doing: `look for the region ${region}` }),
      );
      return found?.zones?.map((link) => link.replace(/^.*\//, ''));
    },

    /** Whether the zone has machines of the type, as the project sees it. */
    async hasMachineType(project: string, zone: string, type: string): Promise<boolean> {
      const path = `/compute/v1/projects/${project}/zones/${zone}/machineTypes/${type}`;
      const doing = `look for the machine type ${type} in ${zone}`;
      return (await orUndefined(rest<unknown>('GET', path, { doing }))) !== undefined;
    },
  };
}
