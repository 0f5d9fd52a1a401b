/**
 * Writes the simulated cloud's firewall rules in nft's language. Packets from a VM are checked where they enter the network,
 * packets to it where they leave the network. Pure.
 */
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { objectsOf, textOf, textsOf } from '../../local/cloud/kernel/json-fields.js';
import { metadataAddress } from '../../local/machines/guest-metadata.js';
import { decidingFirst, type Endpoint, inRanges, isFor } from '../../local/machines/network/firewall.js';
import { outsideAddress } from './network.js';

export interface Plug {
  /** The VM's network device. */
  readonly device: string;
  readonly vm: Endpoint;
  /** Whether it has a way to the internet. */
  readonly isOnline: boolean;
}

export function nftRules(
  plugs: readonly Plug[],
  neighbours: readonly Endpoint[],
  rules: readonly JsonObject[],
): string {
  const chains = plugs.flatMap(({ device, vm, isOnline }) => [
    ...chain(`from-${device}`, [
      // A VM may not use another one's address.
      `ip saddr != ${vm.address} drop`,
      // A VM always reaches it, whatever the rules say.
      `ip daddr ${metadataAddress} accept`,
      ...(isOnline ? [] : [`ip daddr ${outsideAddress} drop`]),
      ...decidingFirst(rules, 'EGRESS', vm).flatMap((rule) => lines(rule, destinationsOf(rule, vm))),
      'accept',
    ]),
    ...chain(`to-${device}`, [
      `ip saddr ${metadataAddress} accept`,
      ...decidingFirst(rules, 'INGRESS', vm).flatMap((rule) => lines(rule, sourcesOf(rule, vm, neighbours))),
      'drop',
    ]),
  ]);
  const first = (hook: string) => [
    `type filter hook ${hook} priority 0; policy accept;`,
    'ct state established,related accept',
  ];
  return [
    'table inet cloud',
    'delete table inet cloud',
    'table inet cloud {',
    ...chains,
    ...chain('leaving', [
      ...first('prerouting'),
      ...plugs.map(({ device }) => `iifname "${device}" goto from-${device}`),
    ]),
    ...chain('arriving', [
      ...first('postrouting'),
      ...plugs.map(({ device }) => `oifname "${device}" goto to-${device}`),
    ]),
    '}',
    '',
  ].join('\n');
}

const chain = (name: string, inner: readonly string[]): string[] => [
  `  chain ${name} {`,
  ...inner.map((line) => `    ${line}`),
  '  }',
];

const isIpv4 = (range: string): boolean => !range.includes(':');
const meet = (some: readonly string[], others: readonly string[]): boolean => some.some((one) => others.includes(one));

/** One match per range, because nft's sets allow no overlaps. An empty one matches everybody. */
const among = (which: 'saddr' | 'daddr', ranges: readonly string[]): string[] =>
  ranges.includes('0.0.0.0/0') ? [''] : [...new Set(ranges)].map((range) => `ip ${which} ${range} `);

/** Ranges, tags and accounts of a source are alternatives. */
function sourcesOf(rule: JsonObject, at: Endpoint, neighbours: readonly Endpoint[]): string[] {
  if (!isFor(rule, at)) return [];
  const named = neighbours.filter(
    ({ tags, serviceAccounts, address }) =>
      address !== '' &&
      (meet(textsOf(rule['sourceTags']), tags) || meet(textsOf(rule['sourceServiceAccounts']), serviceAccounts)),
  );
  const ranges = textsOf(rule['sourceRanges']).filter(isIpv4);
  return among('saddr', [...ranges, ...named.map(({ address }) => address)]);
}

function destinationsOf(rule: JsonObject, at: Endpoint): string[] {
  const sources = textsOf(rule['sourceRanges']);
  if (sources.length > 0 && !inRanges(sources, at.address)) return [];
  return among('daddr', textsOf(rule['destinationRanges']).filter(isIpv4));
}

function lines(rule: JsonObject, peers: readonly string[]): string[] {
  const verdicts = (field: 'denied' | 'allowed', verdict: string) =>
    objectsOf(rule[field]).flatMap((one) =>
      peers.flatMap((peer) => passagesOf(one).map((passage) => `${peer}${passage}${verdict}`)),
    );
  return [...verdicts('denied', 'drop'), ...verdicts('allowed', 'accept')];
}

function passagesOf(one: JsonObject): string[] {
  const protocol = textOf(one['IPProtocol'])?.toLowerCase() ?? 'all';
  if (protocol === 'all') return [''];
  // Debian has another name for the protocol that Google calls ipip.
  const named = `meta l4proto ${protocol === 'ipip' ? '4' : protocol} `;
  const ports = textsOf(one['ports']);
  return ports.length === 0 ? [named] : ports.map((port) => `${named}th dport ${port} `);
}
