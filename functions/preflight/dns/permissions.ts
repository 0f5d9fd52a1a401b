/** Whether plinth may write to the shared zone, or make it. */
import { Problem } from '../../../shared/problems.js';
import { noneIfHidden } from '../../cloud/errors.js';
import { defineFinding, ok, stop } from '../../engine/finding.js';
import { hasSharedZone, sharedZone } from '../../steps/cloud/zone.js';

export const onZone = ['dns.changes.create', 'dns.resourceRecordSets.create', 'dns.resourceRecordSets.delete'];
export const toMakeZones = ['dns.managedZones.create'];

export const dnsPermissions = defineFinding({
  code: 'dns-permissions',
  title: 'Permissions on the DNS zone',
  why: 'plinth writes the delegation of the domain there.',
  by: 'check',
  standsOn: 'dns-zone',
  about: ['dnsProjectId', 'dnsZoneName'],
  when: hasSharedZone,
  async ask(asking) {
    const { dnsProjectId = '', dnsZoneName } = asking.intent.options;
    const { dns, projects } = asking.context.cloud;
    if ((await sharedZone(asking)) === undefined) {
      const held = await projects.held(`projects/${dnsProjectId}`, toMakeZones).catch(noneIfHidden);
      return { on: dnsProjectId, missing: toMakeZones.filter((each) => !held.includes(each)) };
    }
    const held = await dns.held(dnsProjectId, dnsZoneName, onZone);
    return {
      on: `the DNS zone ${dnsZoneName} of ${dnsProjectId}`,
      missing: onZone.filter((each) => !held.includes(each)),
    };
  },
  judge({ on, missing }, { options: { dnsProjectId, dnsZoneName, baseDomain } }) {
    if (missing.length === 0) return ok(`plinth may write to ${on}`);
    return stop(
      new Problem('cloud-permission', `plinth lacks ${missing.join(', ')} on ${on}.`, {
        errors: [{ path: '--dns-zone-name', message: `lets plinth not do what it must (${missing.join(', ')})` }],
        advice: `Ask an administrator of ${dnsProjectId} to make the zone ${dnsZoneName}, for ${baseDomain} or a domain above, if it is missing, and to grant plinth's service account roles/dns.admin on that zone, or on the project.`,
      }),
    );
  },
});
