/** Whether the domain's names in the shared zone are free. A delegation would hide what others have there. */

import { defineFinding, ok, stop } from '../../engine/finding.js';
import { namesTaken, recordsBeneath } from '../../steps/cloud/delegation.js';
import { hasSharedZone, sharedZone } from './zone.js';

export const dnsRecords = defineFinding({
  code: 'dns-records',
  title: 'Names of the domain',
  why: 'A delegation would hide the records of others, so plinth writes none over them.',
  by: 'check',
  standsOn: 'dns-zone',
  about: ['baseDomain', 'dnsProjectId', 'dnsZoneName'],
  when: hasSharedZone,
  async ask(asking) {
    const { dnsProjectId = '', dnsZoneName, baseDomain } = asking.intent.options;
    const name = `${baseDomain}.`;
    const zone = await sharedZone(asking);
    // In a zone of the domain itself, records are added to what is there.
    if (zone === undefined || zone.dnsName === name) return { name, foreign: [] };
    const records = await asking.context.cloud.dns.records(dnsProjectId, dnsZoneName);
    return { name, foreign: recordsBeneath(records, name) };
  },
  judge({ name, foreign }, { options: { dnsProjectId = '', dnsZoneName } }) {
    if (foreign.length === 0) return ok(`${name} is free`);
    return stop(namesTaken(foreign, { project: dnsProjectId, zone: dnsZoneName, name }));
  },
});
