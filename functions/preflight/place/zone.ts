/** Whether the region has the zone. */
import { defineFinding, ok, stopFor } from '../../engine/finding.js';
import { zonesOf } from './region.js';

export const zone = defineFinding({
  code: 'zone',
  title: 'Zone',
  why: 'The VMs are made there.',
  by: 'bootstraps',
  standsOn: 'region',
  mustBeAsked: true,
  about: ['region', 'zone'],
  onResume: 'changed',
  ask: zonesOf,
  judge(zones, { options: { region, zone } }) {
    // The region's own finding tells that.
    if (zones === undefined) return { state: 'unknown', what: `there is no region ${region}` };
    if (zones.includes(zone)) return ok(zone);
    return stopFor(
      ['zone'],
      `names ${zone}, and Google Cloud has no such zone in ${region}`,
      `Give one of the zones that there are: ${zones.join(', ')}.`,
    );
  },
});
