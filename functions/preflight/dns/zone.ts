/** Whether the DNS zone that the options name is there, and for the domain or one above. */

import { Problem } from '../../../shared/problems.js';
import { type Asking, defineFinding, ok, stop } from '../../engine/finding.js';
import { covers, inDnsProject, zoneOfAnother } from '../../steps/cloud/zone.js';

/** The zone of another project. Undefined: it is not there, or it will be made in the bootstrap's own. */
export const sharedZone = ({ context, intent, once }: Asking) => {
  const { dnsProjectId, dnsZoneName } = intent.options;
  return once('DNS zone', async () =>
    dnsProjectId === undefined
      ? undefined
      : inDnsProject({ bootstrap: intent }, () => context.cloud.dns.zone(dnsProjectId, dnsZoneName)),
  );
};

export const hasSharedZone = ({ intent: { options } }: Asking): boolean => options.dnsProjectId !== undefined;

export const dnsZone = defineFinding({
  code: 'dns-zone',
  title: 'DNS zone',
  why: 'The names of the platform are written there.',
  by: 'check',
  about: ['baseDomain', 'dnsProjectId', 'dnsZoneName'],
  async ask(asking) {
    try {
      return { found: await sharedZone(asking) };
    } catch (error) {
      return { refused: asProblem(error) };
    }
  },
  judge(seen, { options }) {
    const { baseDomain, dnsProjectId, dnsZoneName } = options;
    if ('refused' in seen) return stop(seen.refused);
    if (dnsProjectId === undefined) return ok(`${dnsZoneName} is made in the bootstrap's own project`);
    if (seen.found === undefined) return ok(`${dnsZoneName} is made in ${dnsProjectId}, for ${baseDomain}`);
    const { dnsName } = seen.found;
    if (!covers(dnsName, baseDomain)) return stop(zoneOfAnother(options, dnsProjectId, dnsName));
    return ok(`${dnsZoneName} of ${dnsProjectId} is for ${dnsName}`);
  },
});

/** Google refuses for good. Anything else may pass. */
function asProblem(error: unknown): Problem {
  if (error instanceof Problem && error.kind.status < 500) return error;
  throw error;
}
