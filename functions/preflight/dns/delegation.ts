/** Whether a resolver is led to the zone. Without that, the platform's names lead nowhere and get no certificates. */
import { defineFinding, ok } from '../../engine/finding.js';
import { sharedZone } from '../../steps/cloud/zone.js';

export const dnsDelegation = defineFinding({
  code: 'dns-delegation',
  title: 'Delegation of the DNS zone',
  why: 'Without it the names of the platform lead nowhere, and get no certificates.',
  by: 'check',
  standsOn: 'dns-zone',
  about: ['baseDomain', 'dnsProjectId', 'dnsZoneName'],
  async ask(asking) {
    const zone = await sharedZone(asking);
    if (zone === undefined) return undefined;
    const wanted = (zone.nameServers ?? []).map((name) => name.toLowerCase()).sort();
    return { dnsName: zone.dnsName, wanted, seen: await asking.context.cloud.nameServers.delegatedTo(zone.dnsName) };
  },
  judge(found, { options: { baseDomain } }) {
    if (found === undefined) {
      return {
        state: 'unknown',
        what: `the zone of ${baseDomain} is not made yet`,
        why: 'Its name servers are known once it is made.',
        mend: `Then delegate ${baseDomain} to them; the summary names them.`,
      };
    }
    const { dnsName, wanted, seen } = found;
    if (wanted.length > 0 && wanted.every((name) => seen.includes(name))) return ok(`${dnsName} on ${seen.join(', ')}`);
    const now = seen.length === 0 ? 'nowhere' : `to ${seen.join(', ')}`;
    return {
      state: 'warning',
      what: `a resolver is led ${now} for ${dnsName}, not to its zone`,
      mend: `Delegate it in the zone above: ${dnsName} NS ${wanted.join(' ')}`,
    };
  },
});
