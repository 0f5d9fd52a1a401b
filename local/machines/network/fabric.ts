/**
 * The network between simulated VMs, and from the world to them. It finds the VM of an address, checks the firewall rules of
 * both sides, and connects to the machine. Every connection of proxies, jumps and programs goes through it.
 */
import { connect as connectTcp } from 'node:net';
import type { Duplex } from 'node:stream';
import { firewallPoliciesAbove } from '../../cloud/compute/firewall-policies.js';
import type { World } from '../../cloud/kernel/api.js';
import { metadataAddress, metadataNames, metadataPort } from '../guest-metadata.js';
import { allVms, rulesOf, type Vm, vmAt } from '../vms.js';
import { allows } from './firewall.js';
import { verdictOf } from './hierarchy.js';
import { reachesInternet } from './internet.js';
import { createPair } from './streams.js';

/** `dropped`: no answer ever comes, as when a firewall drops packets. */
export type Answer =
  | { readonly kind: 'open'; readonly stream: Duplex }
  | { readonly kind: 'refused' }
  | { readonly kind: 'dropped' };

export interface Fabric {
  /** `address` is an IPv4 address, or within a network the name of a VM. */
  connect(from: Vm | 'world', address: string, port: number): Promise<Answer>;
  /** Connects from IAP's range to the VM at this path. */
  connectFromIap(path: string, port: number): Promise<Answer>;
}

export interface FabricOptions {
  readonly world: World;
  /** Connects to this port of the VM. `from` is the address of another VM of its network, or of IAP. */
  readonly accept: (vm: Vm, port: number, from?: string) => Promise<Answer>;
  /** Stand-ins for Google and others listen on loopback ports of this system. VMs reach only these ports outside. */
  readonly isOutside: (port: number) => boolean;
  /** Takes a connection to the metadata server. */
  readonly metadata: (vm: Vm, stream: Duplex) => void;
  /** False if the network behind `accept` enforces the rules itself. */
  readonly asksRules: boolean;
}

/** Reserved for documentation (RFC 5737), so that no real host has it. */
export const anybody = '198.51.100.10';
const natAddress = '192.0.2.10';
/** One of 35.235.240.0/20, from which IAP connects. */
export const iapAddress = '35.235.240.1';

/** Names beneath `localhost` count too. Programs that bypass their proxy for loopback itself still ask it for these. */
const isLoopback = (address: string): boolean => /^(?:(?:.+\.)?localhost|127\.[\d.]+)$/.test(address);
const isMetadata = (address: string): boolean => [metadataAddress, ...metadataNames].includes(address);

export function createFabric(options: FabricOptions): Fabric {
  const { world, accept, isOutside, metadata, asksRules } = options;
  const admits = (to: Vm, other: Partial<Vm> & { address: string }, port: number): boolean => {
    const above = firewallPoliciesAbove(world, to.projectId);
    const verdict = verdictOf(above, { direction: 'INGRESS', other: other.address, port });
    if (verdict !== 'next') return verdict === 'allow';
    return allows(rulesOf(world, to), { direction: 'INGRESS', at: to, other, port });
  };
  const reach = (to: Vm, other: Partial<Vm> & { address: string }, port: number): Promise<Answer> | Answer =>
    !asksRules || admits(to, other, port)
      ? accept(to, port, 'network' in other ? other.address : undefined)
      : { kind: 'dropped' };

  const outside = (port: number): Promise<Answer> =>
    new Promise((resolve) => {
      const socket = connectTcp({ host: '127.0.0.1', port, noDelay: true });
      socket.once('connect', () => resolve({ kind: 'open', stream: socket }));
      socket.once('error', () => resolve({ kind: 'refused' }));
    });

  return {
    async connectFromIap(path, port) {
      const to = vmAt(world, path);
      if (to === undefined || !to.isUp) return { kind: 'dropped' };
      return asksRules ? reach(to, { address: iapAddress }, port) : accept(to, port, iapAddress);
    },
    async connect(from, address, port) {
      const vms = allVms(world).filter(({ isUp }) => isUp);
      if (from === 'world') {
        const to = vms.find(({ externalAddress }) => externalAddress === address);
        return to === undefined ? { kind: 'dropped' } : reach(to, { address: anybody }, port);
      }
      if (isMetadata(address)) {
        if (port !== metadataPort) return { kind: 'refused' };
        const [near, far] = createPair();
        metadata(from, far);
        return { kind: 'open', stream: near };
      }
      const mayLeave = (to: { address: string }): boolean =>
        allows(rulesOf(world, from), { direction: 'EGRESS', at: from, other: to, port });
      if (isLoopback(address)) {
        if (!isOutside(port)) return accept(from, port);
        const leaves = reachesInternet(world, from) && mayLeave({ address: natAddress });
        return leaves ? outside(port) : { kind: 'dropped' };
      }
      if (address === from.address || address === from.name) return accept(from, port);
      const neighbours = vms.filter(({ network }) => network === from.network);
      const inside = neighbours.find((vm) => vm.address === address || isNamed(vm, address, from));
      if (inside !== undefined) return mayLeave(inside) ? reach(inside, from, port) : { kind: 'dropped' };
      const to = vms.find(({ externalAddress }) => externalAddress === address);
      if (to !== undefined && reachesInternet(world, from) && mayLeave({ address })) {
        return reach(to, { address: from.externalAddress ?? natAddress }, port);
      }
      return { kind: 'dropped' };
    },
  };
}

/**
 * The forms of Google's own DNS: `name.zone.c.project.internal`, and `name` within the zone. Only projects with global DNS also
 * have `name.c.project.internal`, and `name` from other zones.
 */
function isNamed({ name, zone, projectId, isZonalDnsOnly }: Vm, address: string, from: Vm): boolean {
  if (address === `${name}.${zone}.c.${projectId}.internal`) return true;
  if (address === name) return !isZonalDnsOnly || zone === from.zone;
  return !isZonalDnsOnly && address === `${name}.c.${projectId}.internal`;
}
