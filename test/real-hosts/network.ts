/**
 * A VPC network of real hosts: namespaces that hold all its VMs and nothing else. It connects them with the world and its
 * stand-ins, and has nft enforce the firewall rules.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { metadataAddress, metadataPort } from '../../local/machines/guest-metadata.js';
import { type Answer, anybody, iapAddress } from '../../local/machines/network/fabric.js';
import { join as joinStreams } from '../../local/machines/network/streams.js';
import { groupName, removeGroup, sweepGroups } from './control-groups.js';
import type { NetworkReply, NetworkWish } from './network-program.js';

/** Reserved for documentation (RFC 5737). VMs find the stand-ins for the outside world here. */
export const outsideAddress = '192.0.2.1';

export interface Network {
  /** nsenter's arguments to enter all its namespaces. */
  readonly entry: readonly string[];
  /** Connects from the world, or from IAP, under the rules. */
  connect(address: string, port: number, from?: typeof iapAddress): Promise<Answer>;
  /** Sets the rules, in nft's own language. They are in force when it returns. */
  setRules(text: string): void;
  /** Ports of this computer's loopback that VMs reach at `outsideAddress`. */
  openOutside(ports: readonly number[]): Promise<void>;
  /** The path of a VM's control group within the namespaces, and a function that removes it. */
  groupOf(device: string): { readonly path: string; remove(): boolean };
  /** Cuts this VM off: no more packets from it or to it. */
  unplug(device: string): void;
  close(): Promise<void>;
}

const program = fileURLToPath(new URL('./network-program.js', import.meta.url));

/** The child processes of a process. */
export const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

/** The program that holds the namespaces, once it is ready. */
interface Holder {
  /** Process id of the program, as this system sees it. */
  readonly pid: number;
  ask<T>(wish: NetworkWish): Promise<T>;
  close(): Promise<void>;
}

async function startHolder(mountPoint: string, group: string): Promise<Holder> {
  const waiting = new Map<number, (reply: NetworkReply, handle: unknown) => void>();
  const child = spawn(
    'unshare',
    [
      ...['--mount', '--net', '--pid', '--mount-proc', '--fork', '--kill-child', '--'],
      ...[process.execPath, program, mountPoint, group],
    ],
    { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
  );
  let complaint = '';
  child.stderr?.on('data', (data: Buffer) => {
    complaint = `${complaint}${data}`.slice(-2000);
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const up = new Promise<void>((resolve, reject) => {
    waiting.set(0, () => resolve());
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`the network ended: ${complaint.trim()}`)));
  });
  child.on('message', (reply: NetworkReply, handle) => {
    waiting.get(reply.id)?.(reply, handle);
    waiting.delete(reply.id);
  });
  child.once('exit', () => {
    for (const [id, tell] of waiting) tell({ id, failure: 'the network ended' }, undefined);
    waiting.clear();
  });
  await up;
  const [pid = 0] = childrenOf(child.pid ?? 0);
  let last = 0;
  return {
    pid,
    ask: <T>(wish: NetworkWish) =>
      new Promise<T>((resolve, reject) => {
        const id = ++last;
        waiting.set(id, ({ failure }, handle) =>
          failure === undefined ? resolve(handle as T) : reject(new Error(failure)),
        );
        child.send({ id, ...wish }, (error) => {
          if (error !== null && waiting.delete(id)) reject(error);
        });
      }),
    async close() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

function runInNetwork(pid: number, argv: readonly string[], input: string): void {
  const run = spawnSync('nsenter', ['--target', String(pid), '--net', '--', ...argv], { input, encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`${argv.join(' ')} failed: ${run.stderr?.trim() || run.error?.message}`);
}

/** Packets to nowhere vanish, as on the internet. The metadata server is also the gateway, as boot-vm.sh expects. */
function layNetwork(pid: number): void {
  const addresses = [`${metadataAddress}/32`, `${outsideAddress}/32`, `${anybody}/32`, `${iapAddress}/32`];
  const lines = [
    'link set lo up',
    ...addresses.map((one) => `address add ${one} dev lo`),
    'route add blackhole default',
    '',
  ];
  runInNetwork(pid, ['ip', '-batch', '-'], lines.join('\n'));
  runInNetwork(pid, ['sysctl', '--quiet', '--write', 'net.ipv4.ip_forward=1'], '');
}

/** Open connections, and the listeners through which VMs reach ports of this computer's loopback. */
function createDoors(ask: Holder['ask']) {
  const doors = new Map<number, Promise<Server>>();
  const open = new Set<Socket>();
  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  };
  const lead = (port: number) => (inside: Socket) => {
    const outside = connectTcp({ host: '127.0.0.1', port, noDelay: true });
    keep(inside);
    keep(outside);
    joinStreams(inside, outside);
  };
  return {
    keep,
    /** Opens these ports and closes all others. */
    async openOutside(ports: readonly number[]): Promise<void> {
      for (const [port, door] of doors) {
        if (ports.includes(port)) continue;
        doors.delete(port);
        (await door).close();
      }
      for (const port of ports) {
        if (doors.has(port)) continue;
        const door = ask<Server>({ listen: port, address: outsideAddress });
        doors.set(port, door);
        (await door).on('connection', lead(port));
      }
    },
    async close(): Promise<void> {
      for (const door of doors.values()) (await door.catch(() => undefined))?.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Calls `onMetadata` with connections of VMs to the metadata server. */
export async function startNetwork(mountPoint: string, onMetadata: (socket: Socket) => void): Promise<Network> {
  const group = groupName();
  const { pid, ask, close } = await startHolder(mountPoint, group);
  const groups = `/proc/${pid}/root${mountPoint}`;
  sweepGroups(groups);
  layNetwork(pid);
  const doors = createDoors(ask);
  const metadata = await ask<Server>({ listen: metadataPort, address: metadataAddress });
  metadata.on('connection', onMetadata);

  return {
    entry: ['--target', String(pid), '--mount', '--net', '--pid'],
    async connect(address, port, from) {
      try {
        const stream = await ask<Socket>({ connect: port, address, from: from ?? anybody });
        stream.setNoDelay(true);
        doors.keep(stream);
        return { kind: 'open', stream };
      } catch (error) {
        return { kind: (error as Error).message === 'ECONNREFUSED' ? 'refused' : 'dropped' };
      }
    },
    setRules: (rules) => runInNetwork(pid, ['nft', '--file', '-'], rules),
    openOutside: doors.openOutside,
    groupOf: (device) => ({
      path: join(mountPoint, group, device),
      remove: () => removeGroup(join(groups, group, device)),
    }),
    unplug(device) {
      spawnSync('nsenter', ['--target', String(pid), '--net', '--', 'ip', 'link', 'set', device, 'down']);
    },
    async close() {
      metadata.close();
      await doors.close();
      await close();
    },
  };
}
