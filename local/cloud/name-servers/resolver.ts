/** A resolver that follows delegations from a root, which delegates each zone that lies beneath no other. */

import type { ZoneRecord } from '../dns/zone.js';
import type { World } from '../kernel/api.js';
import { textOf, textsOf } from '../kernel/json-fields.js';
import { answerOf, apexOf, publicZones } from './authority.js';
import { isWithin, plainReply, type Question, type Reply, type Row, serverAddresses } from './reply.js';

const mostReferrals = 16;

const rootServer: Row = {
  name: '.',
  type: 'SOA',
  ttl: 300,
  data: 'a.root-servers.net. nstld.verisign-grs.com. 1 1800 900 604800 300',
};

/** Asks from the root downwards. SERVFAIL where a delegation leads to servers that do not hold the zone. */
export function resolve(world: World, question: Question): Reply {
  const address = serverAddresses[question.name];
  if (address !== undefined) {
    const isAsked = question.type === 'A';
    const answers = isAsked ? [{ ...question, ttl: 3600, data: address }] : [];
    return { ...plainReply('NOERROR'), answers, authorities: isAsked ? [] : [rootServer] };
  }
  const top = rootDelegation(world, question.name);
  if (top === undefined) return { ...plainReply('NXDOMAIN'), authorities: [rootServer] };
  let servers = top;
  let cut = '';
  for (let referrals = 0; referrals < mostReferrals; referrals++) {
    const reply = servers
      .map((server) => answerOf(world, server, question))
      .find(({ rcode }) => rcode === 'NOERROR' || rcode === 'NXDOMAIN');
    if (reply === undefined) return plainReply('SERVFAIL');
    const next = reply.authorities.filter(({ type }) => type === 'NS');
    if (next.length === 0 || reply.answers.length > 0) return { ...reply, isAuthoritative: false };
    // A referral must lead further down.
    const [{ name } = { name: '' }] = next;
    if (!isWithin(name, cut === '' ? '.' : cut) || name === cut) return plainReply('SERVFAIL');
    cut = name;
    servers = next.map(({ data }) => data.toLowerCase());
  }
  return plainReply('SERVFAIL');
}

/** The servers of the topmost zone above a name. Of two zones of one name, the older is the registered one. */
function rootDelegation(world: World, name: string): readonly string[] | undefined {
  const above = publicZones(world).filter((zone) => isWithin(name, apexOf(zone)));
  const [top] = above.sort((a, b) => apexOf(a).length - apexOf(b).length || ageOf(a) - ageOf(b));
  return top === undefined ? undefined : textsOf(top.resource['nameServers']);
}

const ageOf = ({ resource }: ZoneRecord): number => Date.parse(textOf(resource['creationTime']) ?? '');
