/**
 * The machines of the simulated cloud. It starts a machine when a VM's guest is up, ends it when the VM stops, and removes its
 * disk with the VM.
 *
 * It also serves the proxy through which they are reached. See docs/build/local-machines.md.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { guestShutDown, guests, preempt } from '../cloud/compute/instance-life.js';
import type { World } from '../cloud/kernel/api.js';
import type { Identity } from '../identity/identity.js';
import { embedded } from './embedded.js';
import { createGuestMetadata } from './guest-metadata.js';
import type { Machine, MachineOptions } from './machine.js';
import { type ConnectProxy, startConnectProxy } from './network/connect-proxy.js';
import { type Answer, createFabric, type Fabric } from './network/fabric.js';
import type { RunningTier, Tier } from './tier.js';
import { allVms, type Vm, vmAt } from './vms.js';

export interface MachinesOptions {
  readonly world: World;
  /** Makes the tokens that VMs ask for. */
  readonly identity: Identity;
  /** The folder for the disks. */
  readonly folder: string;
  /** Loopback ports of the stand-ins for the outside world. */
  readonly outsidePorts: () => readonly number[];
  /** What `/etc/environment` of a new disk holds. Default: nothing. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Default: embedded. */
  readonly tier?: Tier;
  readonly onNote: (note: string) => void;
}

export interface Machines {
  /** `http://127.0.0.1:<port>`, for PLINTH_SSH_PROXY. */
  readonly proxyUrl: string;
  /** Connects from IAP's range, for the simulated cloud's tunnel. */
  readonly connectFromIap: Fabric['connectFromIap'];
  /** The machines that are on. */
  list(): readonly { readonly path: string; readonly address: string; readonly externalAddress?: string | undefined }[];
  /** Resolves when all running machines have started up. */
  settle(): Promise<void>;
  /** Takes a VM away as Google does with spot VMs. With `silently`, its connections get no notice. */
  preempt(path: string, options?: { readonly silently?: boolean }): void;
  /** Breaks all connections from outside. New ones are possible. With `silently`, the clients outside get no notice. */
  cut(options?: { readonly silently?: boolean }): void;
  close(): Promise<void>;
}

/** Cloud seconds between the guest being up and its startup script. */
const startupScriptSeconds = 8;

interface Entry {
  readonly vm: Vm;
  readonly machine: Promise<Machine | undefined>;
}

/** The disks of VMs. Each is removed with its VM, even if that was stopped. */
function createDisks({ world, folder }: MachinesOptions, remove: (disk: string) => void) {
  const diskOf = ({ projectId, name, id }: Pick<Vm, 'projectId' | 'name' | 'id'>): string =>
    join(folder, `${projectId}~${name}~${id}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  /** Includes the disks of an earlier run. */
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

/** What a machine may know about its VM, and report about itself. */
function machineOptions(
  { world, environment = {} }: MachinesOptions,
  vm: Vm,
  disk: string,
  connect: (from: Vm, address: string, port: number) => ReturnType<MachineOptions['connect']>,
): MachineOptions {
  const now = (): Vm => vmAt(world, vm.path) ?? vm;
  return {
    vm,
    folder: disk,
    environment,
    hostKeyPem: guests(world)[vm.path]?.hostKey.privateKeyPem ?? '',
    metadata: (key) => now().metadata(key),
    osLogin: (user) => now().osLogin(user),
    connect: (address, port) => connect(now(), address, port),
    startupMilliseconds: world.scaled(startupScriptSeconds),
    onSerial(line) {
      const known = guests(world)[vm.path];
      if (known !== undefined) known.serial += `${line}\n`;
    },
    onPowerOff: () => guestShutDown(world, vm.path),
  };
}

/** The machines that are on. They follow the VMs that are up in the cloud. */
function createRoster(options: MachinesOptions, tier: RunningTier, connect: Parameters<typeof machineOptions>[3]) {
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

  /** Removes no disk while one may still be in use. */
  function removeStrays(): void {
    if (ending.size === 0) disks.removeStrays([...running.values()].map(({ vm }) => vm));
  }

  return {
    running,
    ending,
    silent,
    /** Makes the running machines match the running VMs. */
    look(): void {
      const wanted = new Map(allVms(world).flatMap((vm) => (vm.isUp ? [[vm.path, vm] as const] : [])));
      for (const [path, entry] of [...running]) {
        const vm = wanted.get(path);
        if (vm === undefined || vm.id !== entry.vm.id || vm.boot !== entry.vm.boot) end(path, entry);
      }
      for (const [path, vm] of wanted) {
        if (running.has(path)) continue;
        // The old machine must release the disk before the next one takes it.
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
  const { world, folder, outsidePorts, onNote, tier: kind = embedded } = options;
  const ports = world.table<number>('ports');
  const metadata = createGuestMetadata(options);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const tier = await kind.start({ world, folder, metadata, outsidePorts, onNote });
  const roster = createRoster(options, tier, (from, address, port) => fabric.connect(from, address, port));
  const { running, ending, look } = roster;

  const fabric = createFabric({
    world,
    isOutside: (port) => outsidePorts().includes(port),
    metadata: metadata.take,
    asksRules: !kind.enforcesRules,
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
    connectFromIap: fabric.connectFromIap,
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
