/**
 * The addresses that no webhook may reach: those of the function itself, and those where clouds serve metadata and tokens.
 * Private networks stay allowed, as a receiver may be in one.
 */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { isLoopback } from '../../shared/loopback.js';

type Range = readonly [network: string, prefix: number];

/** BlockList also finds IPv4 addresses that are mapped into IPv6 (::ffff:0:0/96). NAT64 (64:ff9b::/96) is listed here. */
const blockListOf = (...ranges: readonly Range[]): BlockList => {
  const list = new BlockList();
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, isIP(network) === 6 ? 'ipv6' : 'ipv4');
  return list;
};

/** 0.0.0.0 and :: connect to this computer, too. */
const ownAddresses = blockListOf(['127.0.0.0', 8], ['0.0.0.0', 8], ['::', 127], ['64:ff9b::7f00:0', 104]);

/** Link-local networks, and the addresses of metadata servers outside of them: Google's and Amazon's by IPv6. */
const metadataAddresses = blockListOf(
  ['169.254.0.0', 16],
  ['64:ff9b::a9fe:0', 112],
  ['fe80::', 10],
  ['fd20:ce::254', 128],
  ['fd00:ec2::254', 128],
);

const isIn = (list: BlockList, address: string): boolean => {
  const [plain = ''] = address.split('%');
  const family = isIP(plain);
  return family !== 0 && list.check(plain, family === 6 ? 'ipv6' : 'ipv4');
};

/** Names of Google's metadata server, which the resolver of a function knows. */
const metadataNames = /^metadata(?:\.google\.internal)?\.?$/i;

/** `host`: of a URL. This computer is allowed where the URL itself names it: such a setting is for a receiver beside plinth. */
export const isRefusedHost = (host: string): boolean =>
  metadataNames.test(host) || isRefusedAddress(host.replace(/^\[|\]$/g, ''), isLoopback(host));

const isRefusedAddress = (address: string, allowsOwn: boolean): boolean =>
  isIn(metadataAddresses, address) || (!allowsOwn && isIn(ownAddresses, address));

const refused = (name: string, address: string): Error =>
  new Error(`${name} leads to ${address}, an address of the function itself or of its metadata server`);

/** Throws for a URL whose host is a refused address. A connection to an address asks no resolver. */
export function checkHost({ hostname }: URL): void {
  if (isRefusedHost(hostname)) throw refused(hostname, hostname.replace(/^\[|\]$/g, ''));
}

/**
 * The look-up of a connection to the URL. It fails if any address of the name is refused. The connection is made to what it
 * returns, so no second answer of the resolver can lead elsewhere.
 */
export const guardedLookup =
  ({ hostname }: URL, lookup: LookupFunction = systemLookup): LookupFunction =>
  (name, options, callback) =>
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, []);
      const addresses = found as LookupAddress[];
      const bad = addresses.find(({ address }) => isRefusedAddress(address, isLoopback(hostname)));
      if (bad !== undefined) return callback(refused(name, bad.address), []);
      if (options.all === true) return callback(null, addresses);
      const [first] = addresses;
      return callback(null, first?.address ?? '', first?.family);
    });
