/**
 * The machines of the simulated cloud: starts one when a VM's guest is up, ends it when the VM stops, removes its disk when the
 * VM is gone, and serves the proxy through which they are reached. docs/build/local-machines.md tells more.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { guestShutDown, guests, preempt } from '../cloud/compute/instance-life.js';
import type { World } from '../cloud/kernel/api.js';
import type { Identity } from '../identity/identity.js';
import { removeDisk } from './disk.js';
import { createGuestMetadata } from './guest-metadata.js';
import type { Isolation } from './isolation.js';
import { type Machine, type MachineOptions, startMachine } from './machine.js';
import { type ConnectProxy, startConnectProxy } from './network/connect-proxy.js';
import { type Answer, createFabric } from './network/fabric.js';
import { isolationHere } from './possible.js';
import { createRealTier } from './real/index.js';
import { allVms, type Vm, vmAt } from './vms.js';

export interface MachinesOptions {
  readonly world: World;
  /** Makes the tokens that VMs ask for. */
  readonly identity: Identity;
  /** For the disks. */
  readonly folder: string;
  /** Loopback ports of what stands for the rest of the world. */
  readonly outsidePorts: () => readonly number[];
  /** Default embedded. */
  readonly tier?: TierName;
  /** How embedded machines are kept apart. Default: the first way that works here. */
  readonly isolation?: Isolation | undefined;
  readonly onNote: (note: string) => void;
}

/** `embedded`: SSH servers in this process, bash in sandboxes. `real`: namespaces with systemd and OpenSSH's own server. */
export type TierName = 'embedded' | 'real';

/** How VMs become machines. */
export interface Tier {
  start(options: MachineOptions): Promise<Machine>;
  /** The cloud has changed. */
  follow(): void;
  removeDisk(folder: string): void;
  close(): Promise<void>;
}

function createEmbeddedTier(isolation = isolationHere()): Tier {
  if (typeof isolation === 'string') throw new Error(isolation);
  return {
    start: (options) => startMachine(options, isolation),
    follow: () => undefined,
    removeDisk,
    close: () => Promise.resolve(),
  };
}

export interface Machines {
  /** `http://127.0.0.1:<port>`, for PLINTH_SSH_PROXY. */
  readonly proxyUrl: string;
  /** What is on. */
  list(): readonly { readonly path: string; readonly address: string; readonly externalAddress?: string | undefined }[];
  /** Resolves when all that runs has started up. */
  settle(): Promise<void>;
  /** Takes a VM away as Google does with spot VMs; silently: its connections are not told. */
  preempt(path: string, options?: { readonly silently?: boolean }): void;
  /** All connections from outside break, and new ones may be made; silently: those outside are not told. */
  cut(options?: { readonly silently?: boolean }): void;
  close(): Promise<void>;
}

/** Cloud seconds from the guest being up to its startup script. */
const startupScriptSeconds = 8;

interface Entry {
  readonly vm: Vm;
  readonly machine: Promise<Machine | undefined>;
}

/** The disks of VMs. They go with their VMs, also with those that were stopped. */
function createDisks({ world, folder }: MachinesOptions, remove: (disk: string) => void) {
  const diskOf = ({ projectId, name, id }: Pick<Vm, 'projectId' | 'name' | 'id'>): string =>
    join(folder, `${projectId}~${name}~${id}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  /** Those of an earlier run, too. */
  const disks = new Set(readdirSync(folder).map((name) => join(folder, name)));
  return {
    take(vm: Vm): string {
      disks.add(diskOf(vm));
      return diskOf(vm);
    },
    removeStrays(running: readonly Vm[]): void {
      const known = new Set([...allVms(world), ...running].map(diskOf));
      for (const disk of disks) {
        if (known.has(disk)) continue;
        disks.delete(disk);
        remove(disk);
      }
    },
  };
}

/** What a machine is told of its VM, and what it may tell. */
function machineOptions(
  { world }: MachinesOptions,
  vm: Vm,
  disk: string,
  connect: (from: Vm, address: string, port: number) => ReturnType<MachineOptions['connect']>,
): MachineOptions {
  const now = (): Vm => vmAt(world, vm.path) ?? vm;
  return {
    vm,
    folder: disk,
    hostKeyPem: guests(world)[vm.path]?.hostKey.privateKeyPem ?? '',
    metadata: (key) => now().metadata(key),
    connect: (address, port) => connect(now(), address, port),
    startupMilliseconds: world.scaled(startupScriptSeconds),
    onSerial(line) {
      const known = guests(world)[vm.path];
      if (known !== undefined) known.serial += `${line}\n`;
    },
    onPowerOff: () => guestShutDown(world, vm.path),
  };
}

/** The machines that are on, kept the same as the VMs that are up in the cloud. */
function createRoster(options: MachinesOptions, tier: Tier, connect: Parameters<typeof machineOptions>[3]) {
  const { world, onNote } = options;
  const running = new Map<string, Entry>();
  const ending = new Set<Promise<unknown>>();
  const silent = new Set<string>();
  const disks = createDisks(options, tier.removeDisk);

  function start(vm: Vm): Entry {
    const machine = tier.start(machineOptions(options, vm, disks.take(vm), connect)).catch((error: Error) => {
      onNote(`The machine of ${vm.path} did not start: ${error.message}`);
      return undefined;
    });
    return { vm, machine };
  }

  function end(path: string, { machine }: Entry): void {
    running.delete(path);
    const silently = silent.delete(path);
    const work = machine
      .then((one) => one?.end(silently))
      .catch((error: Error) => onNote(`The machine of ${path} did not end: ${error.message}`))
      .finally(() => {
        ending.delete(work);
        removeStrays();
      });
    ending.add(work);
  }

  /** None while it may still be in use. */
  function removeStrays(): void {
    if (ending.size === 0) disks.removeStrays([...running.values()].map(({ vm }) => vm));
  }

  return {
    running,
    ending,
    silent,
    /** Makes what runs here the same as what runs there. */
    look(): void {
      const wanted = new Map(allVms(world).flatMap((vm) => (vm.isUp ? [[vm.path, vm] as const] : [])));
      for (const [path, entry] of [...running]) {
        const vm = wanted.get(path);
        if (vm === undefined || vm.id !== entry.vm.id || vm.boot !== entry.vm.boot) end(path, entry);
      }
      for (const [path, vm] of wanted) {
        if (running.has(path)) continue;
        // The disk is given up by one before it is taken by the next.
        const before = [...ending];
        if (before.length === 0) running.set(path, start(vm));
        else running.set(path, { vm, machine: Promise.all(before).then(() => start(vm).machine) });
      }
      removeStrays();
      tier.follow();
    },
    async close(): Promise<void> {
      for (const [path, entry] of [...running]) end(path, entry);
      await Promise.all(ending);
    },
  };
}

export async function startMachines(options: MachinesOptions): Promise<Machines> {
  const { world, folder, outsidePorts, onNote, tier: tierName = 'embedded' } = options;
  const ports = world.table<number>('ports');
  const metadata = createGuestMetadata(options);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const tier =
    tierName === 'real'
      ? await createRealTier({ world, folder, metadata, outsidePorts, onNote })
      : createEmbeddedTier(options.isolation);
  const roster = createRoster(options, tier, (from, address, port) => fabric.connect(from, address, port));
  const { running, ending, look } = roster;

  const fabric = createFabric({
    world,
    isOutside: (port) => outsidePorts().includes(port),
    metadata: metadata.take,
    // There it is asked by the network itself.
    asksRules: tierName === 'embedded',
    async accept(vm, port, from): Promise<Answer> {
      look();
      const machine = await running.get(vm.path)?.machine;
      return machine === undefined ? { kind: 'dropped' } : machine.accept(port, from);
    },
  });
  const proxy: ConnectProxy = await startConnectProxy(fabric, ports['machines'] ?? 0);
  ports['machines'] = proxy.port;
  const stopLooking = world.onChange(look);
  look();

  return {
    proxyUrl: proxy.url,
    list: () =>
      [...running.values()].map(({ vm: { path, address, externalAddress } }) => ({ path, address, externalAddress })),
    async settle() {
      look();
      await Promise.all([...running.values()].map(async ({ machine }) => (await machine)?.settled));
      await Promise.all(ending);
    },
    preempt(path, { silently = false } = {}) {
      if (silently) roster.silent.add(path);
      preempt(world, path);
    },
    cut: ({ silently = false } = {}) => proxy.cut(silently),
    async close() {
      stopLooking();
      await proxy.close();
      await roster.close();
      await tier.close();
      metadata.close();
    },
  };
}
