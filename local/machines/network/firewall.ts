/** Decides whether the simulated cloud's firewall rules let a connection pass. Pure. */

import { contains, parseIp, parseRange } from '../../cloud/compute/ip-ranges.js';
import type { JsonObject } from '../../cloud/kernel/api.js';
import { objectsOf, textOf, textsOf } from '../../cloud/kernel/json-fields.js';

/** A VM as firewall rules see it. */
export interface Endpoint {
  readonly address: string;
  readonly tags: readonly string[];
  readonly serviceAccounts: readonly string[];
}

export interface Passage {
  readonly direction: 'INGRESS' | 'EGRESS';
  /** The VM whose rules apply. */
  readonly at: Endpoint;
  /** The other end. It has tags only if it is a VM of the same network. */
  readonly other: Pick<Endpoint, 'address'> & Partial<Endpoint>;
  readonly port: number;
}

/**
 * The rule with the lowest number decides, and a denial goes before a permission. Without a rule, outgoing connections pass
 * and incoming ones don't.
 */
export function allows(rules: readonly JsonObject[], passage: Passage): boolean {
  const deciding = decidingFirst(rules, passage.direction, passage.at).find(
    (rule) => concerns(rule, passage) && hasPort(rule, passage.port),
  );
  return deciding === undefined ? passage.direction === 'EGRESS' : denials(deciding) === 0;
}

/** The rules that target a VM, in order. The first one that matches a connection decides. */
export const decidingFirst = (
  rules: readonly JsonObject[],
  direction: Passage['direction'],
  at: Endpoint,
): readonly JsonObject[] =>
  rules
    .filter((rule) => rule['disabled'] !== true && rule['direction'] === direction && aimsAt(rule, at))
    .sort((a, b) => Number(a['priority']) - Number(b['priority']) || denials(b) - denials(a));

const denials = (rule: JsonObject): number => objectsOf(rule['denied']).length;

const meet = (some: readonly string[], others: readonly string[] = []): boolean =>
  some.some((one) => others.includes(one));

function aimsAt(rule: JsonObject, at: Endpoint): boolean {
  if (rule['targetTags'] !== undefined) return meet(textsOf(rule['targetTags']), at.tags);
  if (rule['targetServiceAccounts'] !== undefined) {
    return meet(textsOf(rule['targetServiceAccounts']), at.serviceAccounts);
  }
  return true;
}

/** Ranges, tags and accounts of a source are alternatives. */
function concerns(rule: JsonObject, { direction, other, at }: Passage): boolean {
  if (direction === 'EGRESS') {
    const sources = textsOf(rule['sourceRanges']);
    return (
      inRanges(textsOf(rule['destinationRanges']), other.address) &&
      (sources.length === 0 || inRanges(sources, at.address))
    );
  }
  return (
    isFor(rule, at) &&
    (inRanges(textsOf(rule['sourceRanges']), other.address) ||
      meet(textsOf(rule['sourceTags']), other.tags) ||
      meet(textsOf(rule['sourceServiceAccounts']), other.serviceAccounts))
  );
}

/** Rules of load balancers name the address of one, where no packets go here. */
export function isFor(rule: JsonObject, at: Pick<Endpoint, 'address'>): boolean {
  const destinations = textsOf(rule['destinationRanges']);
  return destinations.length === 0 || inRanges(destinations, at.address);
}

export function inRanges(ranges: readonly string[], address: string): boolean {
  const ip = parseIp(address);
  return ranges.some((text) => {
    const range = parseRange(text.includes('/') ? text : `${text}/32`);
    return ip !== undefined && range !== undefined && contains(range, ip);
  });
}

function hasPort(rule: JsonObject, port: number): boolean {
  return [...objectsOf(rule['allowed']), ...objectsOf(rule['denied'])].some((one) => {
    const protocol = textOf(one['IPProtocol'])?.toLowerCase();
    if (protocol === 'all') return true;
    if (protocol !== 'tcp' && protocol !== '6') return false;
    const ports = textsOf(one['ports']);
    return (
      ports.length === 0 ||
      ports.some((text) => {
        const [from = Number.NaN, to = from] = text.split('-').map(Number);
        return from <= port && port <= to;
      })
    );
  });
}
