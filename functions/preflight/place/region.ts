/** Whether Google has the region. */
import { type Asking, defineFinding, ok, stopFor } from '../../engine/finding.js';

/** Names of the region's zones. Undefined: Google has no such region. */
export const zonesOf = ({ context: { cloud, config }, intent: { options }, once }: Asking) =>
  once('zones', () => cloud.places.zonesOf(config.project, options.region));

export const region = defineFinding({
  code: 'region',
  title: 'Region',
  why: 'All that the bootstrap makes stands there.',
  by: 'bootstraps',
  mustBeAsked: true,
  about: ['region'],
  onResume: 'changed',
  ask: zonesOf,
  judge: (zones, { options }) =>
    zones === undefined
      ? stopFor(['region'], `names ${options.region}, and Google Cloud has no such region`, 'Give another --region.')
      : ok(options.region),
});
