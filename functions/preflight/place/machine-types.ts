/** Whether the zone has the machine types of the VMs. */

import { defineFinding, ok, stopFor } from '../../engine/finding.js';
import { machineTypesOf } from '../../steps/topology.js';

export const machineTypes = defineFinding({
  code: 'machine-types',
  title: 'Machine types',
  why: 'Not every zone has every type. A VM of a type that is missing is never made.',
  by: 'bootstraps',
  standsOn: 'zone',
  about: ['region', 'zone'],
  ask({ context: { cloud, config }, intent: { options } }) {
    const types = machineTypesOf(options);
    return Promise.all(
      types.map(async (type) => ({
        type,
        there: await cloud.places.hasMachineType(config.project, options.zone, type),
      })),
    );
  },
  judge(found, { options }) {
    const missing = found.filter(({ there }) => !there).map(({ type }) => type);
    if (missing.length === 0) return ok(found.map(({ type }) => type).join(', '));
    return stopFor(
      ['zone'],
      `names ${options.zone}, which has no machines of the type ${missing.join(', ')}`,
      `Give another --zone. Which zones have them: gcloud compute machine-types list --filter="name=(${missing.join(' ')})"`,
    );
  },
});
