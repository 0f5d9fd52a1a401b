/**
 * The folder in which the two halves of a local stack find each other, also after a restart. It holds where the cloud and the
 * functions listen, and what must survive a kill.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GoogleApi } from '../../functions/config.js';
import type { LoadBalancers, MachineAccess } from '../../shared/bootstrap/bootstrap.js';
import { answers, type EmulatorRecord, isAlive } from '../emulators/emulators.js';
import { writeWhole } from '../whole-file.js';

export const defaultStateFolder = '.plinth-local';

/** The record of the cloud half, written once all of it answers. */
export interface CloudRecord {
  readonly schema: 1;
  readonly pid: number;
  readonly store: 'memory' | 'emulator';
  readonly timeFactor: number;
  readonly seed: number;
  readonly frontUrl: string;
  readonly endpoints: Readonly<Record<GoogleApi, string>>;
  /** `127.0.0.1:<port>` */
  readonly metadataHost: string;
  /** The resolver as `127.0.0.1:<port>`, and the addresses of the name servers by name. All share the port. */
  readonly dns: { readonly resolver: string; readonly servers: Readonly<Record<string, string>> };
  readonly issuerUrl: string;
  readonly forge1Url: string;
  /** Registries, as simulated VMs reach them. */
  readonly forge1RegistryUrl: string;
  readonly artifactRegistryDockerUrl: string;
  /** Where simulated VMs fetch k0s. */
  readonly k0sReleasesUrl: string;
  /** HTTP CONNECT proxy to the VMs that answer SSH, if there are any. */
  readonly sshProxyUrl?: string | undefined;
  /** As the world asks for. */
  readonly machineAccess: MachineAccess;
  /** The same. */
  readonly loadBalancers: LoadBalancers;
  /** Where IAP takes WebSockets. */
  readonly iapTunnelUrl: string;
  /** The release of plinth that such VMs fetch. Undefined if none is built. */
  readonly release?: { readonly url: string; readonly sha256: string } | undefined;
  readonly emulators: readonly EmulatorRecord[];
}

/** The address of the functions. Their half writes it. The scheduler and the deliveries read it. */
interface FunctionsRecord {
  readonly schema: 1;
  readonly pid: number;
  readonly origin: string;
}

export interface StateFolder {
  readonly path: string;
  file(name: string): string;
  readCloud(): CloudRecord | undefined;
  writeCloud(record: CloudRecord): void;
  /** Emulators that were started in this folder, ready or not. */
  readEmulators(): readonly EmulatorRecord[];
  writeEmulators(records: readonly EmulatorRecord[]): void;
  readFunctions(): FunctionsRecord | undefined;
  writeFunctions(record: FunctionsRecord): void;
  /** Waits until the cloud half exists and answers. */
  awaitCloud(signal?: AbortSignal): Promise<CloudRecord>;
  remove(): void;
}

function readJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${file} cannot be read: ${(error as Error).message}. Remove the folder to start anew.`);
  }
}

const hostOf = (url: string): string => new URL(url).host;

/** Whether the process is alive and serves there. A process id that was reused since does not count. */
export const serves = async (pid: number, url: string): Promise<boolean> => isAlive(pid) && answers(hostOf(url));

export function openStateFolder(folder: string): StateFolder {
  const path = resolve(folder);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const file = (name: string): string => join(path, name);
  const cloudFile = file('cloud.json');
  const functionsFile = file('functions.json');
  const readCloud = () => readJson<CloudRecord>(cloudFile);
  return {
    path,
    file,
    readCloud,
    writeCloud: (record) => writeWhole(cloudFile, `${JSON.stringify(record, null, 2)}\n`),
    readEmulators: () => readJson<EmulatorRecord[]>(file('emulators.json')) ?? [],
    writeEmulators: (records) => writeWhole(file('emulators.json'), `${JSON.stringify(records, null, 2)}\n`),
    readFunctions: () => readJson<FunctionsRecord>(functionsFile),
    writeFunctions: (record) => writeWhole(functionsFile, `${JSON.stringify(record, null, 2)}\n`),
    async awaitCloud(signal) {
      for (;;) {
        const record = readCloud();
        if (record !== undefined && (await serves(record.pid, record.frontUrl))) return record;
        await sleep(100, undefined, signal === undefined ? {} : { signal });
      }
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
