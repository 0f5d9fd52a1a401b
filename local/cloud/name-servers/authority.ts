/** What a name server of Cloud DNS answers from the zones that it holds (RFC 1034, 4.3.2, and RFC 4592 for wildcards). */

import { servedRecords, type ZoneRecord, zones } from '../dns/zone.js';
import type { JsonObject, World } from '../kernel/api.js';
import { numberOf, textOf, textsOf } from '../kernel/json-fields.js';
import { lookUpProject } from '../kernel/projects.js';
import { isWithin, parentOf, plainReply, type Question, type Reply, type Row } from './reply.js';

export const apexOf = ({ resource }: ZoneRecord): string => String(resource['dnsName']).toLowerCase();

/** All zones that the internet can see. A project that is shut down serves nothing. */
export const publicZones = (world: World): ZoneRecord[] =>
  Object.entries(zones(world))
    .filter(([path]) => lookUpProject(world, path.split('/')[1] ?? '')?.state === 'ACTIVE')
    .map(([, zone]) => zone)
    .filter(({ resource }) => resource['visibility'] === 'public');

/** The rows of a zone by name. */
type Names = ReadonlyMap<string, readonly Row[]>;

function namesOf(zone: ZoneRecord): Names {
  const names = new Map<string, Row[]>();
  for (const record of Object.values(servedRecords(zone))) {
    const name = String(record['name']).toLowerCase();
    names.set(name, [...(names.get(name) ?? []), ...rowsOf(record, name)]);
  }
  return names;
}

const rowsOf = ({ type, ttl, rrdatas }: JsonObject, name: string): Row[] =>
  textsOf(rrdatas).map((data) => ({ name, type: textOf(type) ?? '', ttl: numberOf(ttl) ?? 0, data }));

/** The answer of one name server. It refuses names of which it holds no zone. */
export function answerOf(world: World, server: string, question: Question): Reply {
  const held = publicZones(world)
    .filter((zone) => textsOf(zone.resource['nameServers']).includes(server) && isWithin(question.name, apexOf(zone)))
    .sort((a, b) => apexOf(b).length - apexOf(a).length);
  const [zone] = held;
  return zone === undefined ? plainReply('REFUSED') : inZone(namesOf(zone), apexOf(zone), question);
}

/** Follows CNAMEs as long as they stay in the zone. */
function inZone(names: Names, apex: string, question: Question): Reply {
  const answers: Row[] = [];
  let name = question.name;
  for (let hops = 0; hops < 16; hops++) {
    const referral = referralOf(names, apex, name);
    if (referral !== undefined) return { ...referral, isAuthoritative: answers.length > 0, answers };
    const rows = names.get(name) ?? wildcardRows(names, apex, name);
    if (rows === undefined) {
      const rcode = answers.length === 0 && !isNonTerminal(names, name) ? 'NXDOMAIN' : 'NOERROR';
      return { ...negative(names, apex), rcode, answers };
    }
    const found = rows.filter(({ type }) => type === question.type);
    if (found.length > 0) return { ...plainReply('NOERROR'), isAuthoritative: true, answers: [...answers, ...found] };
    const [alias] = rows.filter(({ type }) => type === 'CNAME');
    if (alias === undefined) return { ...negative(names, apex), answers };
    answers.push(alias);
    name = alias.data.toLowerCase();
    if (!isWithin(name, apex)) break;
  }
  return { ...plainReply('NOERROR'), isAuthoritative: true, answers };
}

/** NS records beneath the apex delegate their name and all beneath it. */
function referralOf(names: Names, apex: string, name: string): Reply | undefined {
  const chain: string[] = [];
  for (let at = name; at !== apex; at = parentOf(at)) chain.unshift(at);
  for (const cut of chain) {
    const servers = (names.get(cut) ?? []).filter(({ type }) => type === 'NS');
    if (servers.length > 0) return { ...plainReply('NOERROR'), authorities: servers };
  }
  return undefined;
}

/** The rows of the wildcard at the closest name that exists above. */
function wildcardRows(names: Names, apex: string, name: string): Row[] | undefined {
  if (isNonTerminal(names, name)) return undefined;
  for (let at = parentOf(name); isWithin(at, apex); at = parentOf(at)) {
    const rows = names.get(`*.${at}`);
    if (rows !== undefined) return rows.map((row) => ({ ...row, name }));
    if (at === apex || names.has(at) || isNonTerminal(names, at)) return undefined;
  }
  return undefined;
}

/** A name without records, but with names beneath it, exists. */
const isNonTerminal = (names: Names, name: string): boolean =>
  [...names.keys()].some((other) => other.endsWith(`.${name}`));

/** NODATA and NXDOMAIN carry the SOA. Its last number says how long they hold. */
function negative(names: Names, apex: string): Reply {
  const authorities = (names.get(apex) ?? [])
    .filter(({ type }) => type === 'SOA')
    .map((row) => ({ ...row, ttl: Math.min(row.ttl, Number(row.data.split(/\s+/)[6] ?? row.ttl)) }));
  return { ...plainReply('NOERROR'), isAuthoritative: true, authorities };
}
