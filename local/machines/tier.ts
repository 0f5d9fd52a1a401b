/** A way to turn VMs into machines. Here it is sandboxes (`embedded.ts`). Tests bring another one, of whole systems. */
import type { World } from '../cloud/kernel/api.js';
import type { GuestMetadata } from './guest-metadata.js';
import type { Machine, MachineOptions } from './machine.js';

export interface Tier {
  /** Undefined if this computer can hold such machines. Otherwise the reason, and what to do. `folder` is for the disks. */
  whyNot(folder: string): string | undefined;
  /** Whether its network enforces the firewall rules itself. */
  readonly enforcesRules: boolean;
  start(options: TierOptions): Promise<RunningTier>;
}

export interface TierOptions {
  readonly world: World;
  readonly folder: string;
  readonly metadata: GuestMetadata;
  readonly outsidePorts: () => readonly number[];
  readonly onNote: (note: string) => void;
}

export interface RunningTier {
  start(options: MachineOptions): Promise<Machine>;
  /** Called when the cloud has changed. */
  follow(): void;
  removeDisk(folder: string): void;
  close(): Promise<void>;
}
