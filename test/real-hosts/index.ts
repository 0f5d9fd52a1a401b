/** The tier of real hosts: each VPC network is a set of namespaces, and its VMs run systemd and sshd in it. */
import { mkdirSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { World } from '../../local/cloud/kernel/api.js';
import { metadataAddress, metadataNames } from '../../local/machines/guest-metadata.js';
import type { Machine, MachineOptions } from '../../local/machines/machine.js';
import { reachesInternet } from '../../local/machines/network/internet.js';
import { outsideNames } from '../../local/machines/network/outside-names.js';
import type { RunningTier, Tier, TierOptions } from '../../local/machines/tier.js';
import { allVms, rulesOf, type Vm } from '../../local/machines/vms.js';
import { makeBase } from './base.js';
import { type RealHost, startRealHost } from './host.js';
import { type Network, startNetwork } from './network.js';
import { whyNoRealHosts } from './possible.js';
import { nftRules, type Plug } from './rules.js';

export const realHosts: Tier = { enforcesRules: true, whyNot: whyNoRealHosts, start: startRealHosts };

interface Entry {
  readonly vm: Vm;
  readonly device: string;
  host?: RealHost;
}

interface Standing {
  readonly network: Promise<Network>;
  /** The same network, once it is ready. */
  up?: Network;
  readonly hosts: Map<string, Entry>;
  rules?: string;
}

async function startRealHosts(options: TierOptions): Promise<RunningTier> {
  const { world, folder, outsidePorts, onNote } = options;
  const base = await makeBase(onNote);
  const mountPoint = join(folder, '..', 'control-groups');
  mkdirSync(mountPoint, { recursive: true });
  const standing = new Map<string, Standing>();
  let last = 0;

  function follow(): void {
    for (const place of standing.values()) {
      if (place.up === undefined) continue;
      try {
        bringRules(world, place, place.up);
        for (const { host } of place.hosts.values()) host?.follow();
      } catch (error) {
        onNote(`The real hosts do not follow the cloud: ${(error as Error).message}`);
      }
    }
  }

  async function start(machine: MachineOptions): Promise<Machine> {
    const { vm } = machine;
    const place = networkOf(vm.network, standing, mountPoint, options);
    const network = await place.network;
    const entry: Entry = { vm, device: `vm${++last}` };
    place.hosts.set(vm.path, entry);
    // Before the host exists, so that nothing passes that the rules forbid.
    bringRules(world, place, network);
    await network.openOutside(outsidePorts());
    const { device } = entry;
    const host = await startRealHost({
      ...machine,
      ...{ network, device, base, outsidePorts, names: () => namesIn(world, vm.network) },
    });
    entry.host = host;
    return {
      get settled() {
        return host.settled;
      },
      accept: host.accept,
      async end(silently) {
        await host.end(silently);
        if (place.hosts.get(vm.path) === entry) place.hosts.delete(vm.path);
      },
    };
  }

  return {
    start,
    follow,
    removeDisk: (path) => rmSync(path, { recursive: true, force: true }),
    async close() {
      for (const { network } of standing.values()) await (await network.catch(() => undefined))?.close();
      rmSync(mountPoint, { recursive: true, force: true });
    },
  };
}

/** The network of that path. Starts it if necessary. */
function networkOf(path: string, standing: Map<string, Standing>, mountPoint: string, options: TierOptions): Standing {
  const found = standing.get(path);
  if (found !== undefined) return found;
  const made: Standing = { network: startNetwork(mountPoint, takeMetadata(options, path)), hosts: new Map() };
  made.network.then(
    (network) => {
      made.up = network;
    },
    () => standing.delete(path),
  );
  standing.set(path, made);
  return made;
}

/** A VM is known by its address, which the network lets nobody else use. */
const takeMetadata =
  ({ world, metadata }: TierOptions, network: string) =>
  (socket: Socket) => {
    const vm = allVms(world).find((one) => one.network === network && one.address === socket.remoteAddress);
    if (vm === undefined) socket.destroy();
    else metadata.take(vm, socket);
  };

/** Brings the current firewall rules of the cloud into the network. */
function bringRules(world: World, place: Standing, network: Network): void {
  const vms = allVms(world);
  const plugs = [...place.hosts.values()].flatMap(({ vm: { path }, device }): Plug[] => {
    const vm = vms.find((one) => one.path === path);
    return vm === undefined ? [] : [{ device, vm, isOnline: reachesInternet(world, vm) }];
  });
  const [first] = place.hosts.values();
  if (first === undefined) return;
  const neighbours = vms.filter((one) => one.network === first.vm.network);
  const text = nftRules(plugs, neighbours, rulesOf(world, first.vm));
  if (text === place.rules) return;
  network.setRules(text);
  place.rules = text;
}

/** The names that VMs can resolve in their network. */
const namesIn = (world: World, network: string) => [
  { name: metadataNames.join(' '), address: metadataAddress },
  ...Object.values(outsideNames).map((name) => ({ name, address: '127.0.0.1' })),
  ...allVms(world)
    .filter((one) => one.network === network && one.address !== '')
    .map(({ name, projectId, path, address }) => {
      const zone = path.split('/')[3] ?? '';
      return { name: `${name}.${zone}.c.${projectId}.internal ${name}`, address };
    }),
];
