/** The ranges of a project's network, and the addresses at which no server of the caller's can be. Pure. */
import { isAddress, isInRange } from '../source-ranges.js';

export const subnetRange = '10.10.0.0/20';
/** Kubernetes ranges, apart from the subnet. */
export const podCidr = '100.96.0.0/11';
export const serviceCidr = '100.64.0.0/13';

/** https://www.iana.org/assignments/iana-ipv4-special-registry, https://www.iana.org/assignments/iana-ipv6-special-registry */
const withoutServers = {
  '0.0.0.0/8': 'this host',
  '127.0.0.0/8': 'loopback',
  '169.254.0.0/16': 'link-local',
  '224.0.0.0/4': 'multicast',
  '240.0.0.0/4': 'reserved',
  '::/128': 'unspecified',
  '::1/128': 'loopback',
  'fe80::/10': 'link-local',
  'ff00::/8': 'multicast',
};

const ofProject = {
  [subnetRange]: "the project's subnet",
  [podCidr]: 'pods',
  [serviceCidr]: 'Kubernetes services',
};

function rangeOf(address: string, ranges: Readonly<Record<string, string>>): string | undefined {
  const found = Object.entries(ranges).find(([range]) => isInRange(address, range));
  return found && `${found[0]} (${found[1]})`;
}

/** The range in which no server of the caller's can be, with its meaning. */
export const rangeWithoutServer = (address: string): string | undefined =>
  rangeOf(address, { ...withoutServers, ...ofProject });

/** Whether a host, as it is written in a URL or an endpoint, means only the machine that asks, or no machine. */
export function isUnreachableHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (!isAddress(bare)) return /(?:^|\.)localhost\.?$/.test(bare);
  return rangeOf(bare, withoutServers) !== undefined;
}
