/** What an installer knows of earlier runs on this host: what is installed, and whether another installer is running. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { Problem } from '../../shared/problems.js';
import { readIfThere, secretMode, writeWhole } from '../files/files.js';
import { endGroup } from './component-process.js';

/** `installed.json` in the datacenter's folder. It is a cache: only the component's own check proves that it is installed. */
const Installed = z.strictObject({
  schema: z.literal(1),
  components: z.record(
    z.string(),
    z.strictObject({
      step: z.string(),
      /** A digest of the package's executables and all its other files but images. */
      digest: z.string(),
      /** A digest of config, encrypted secrets and values. */
      inputs: z.string(),
      /** The unpacked package that installed it, and that package's executable that removes it. */
      folder: z.string(),
      remove: z.string(),
      installedAt: z.iso.datetime(),
    }),
  ),
});
export type Installed = z.infer<typeof Installed>;

export function readInstalled(folder: string): Installed {
  const path = join(folder, 'installed.json');
  const text = readIfThere(path);
  if (text === undefined) return { schema: 1, components: {} };
  try {
    return Installed.parse(JSON.parse(text));
  } catch {
    throw new Problem('conflict', `${path} is not what plinth wrote there.`, {
      advice: 'Move it aside and run the command again: every component is then installed over what stands.',
    });
  }
}

export const writeInstalled = (folder: string, installed: Installed): void =>
  writeWhole(join(folder, 'installed.json'), `${JSON.stringify(installed, null, 2)}\n`, secretMode);

const Holder = z.object({
  pid: z.int(),
  started: z.string(),
  group: z.int().optional(),
  groupStarted: z.string().optional(),
});
type Holder = z.infer<typeof Holder>;

export interface InstallLock {
  /** Stores the process group that is running now. */
  runs(group: number): void;
  release(): void;
}

/** One installer per datacenter. It first ends what a killed installer left running. */
export async function takeLock(folder: string): Promise<InstallLock> {
  const path = join(folder, 'install.lock');
  const own: Holder = { pid: process.pid, started: startOf(process.pid) };
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      writeFileSync(path, JSON.stringify(own), { flag: 'wx', mode: secretMode });
      return {
        runs: (group) => writeFileSync(path, JSON.stringify({ ...own, group, groupStarted: startOf(group) })),
        release: () => rmSync(path, { force: true }),
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = readHolder(path);
    if (holder !== undefined && alive(holder.pid, holder.started)) {
      throw new Problem('conflict', `Process ${holder.pid} installs here already.`, {
        advice: 'Wait until it has ended, then run the same command again.',
      });
    }
    if (holder?.group !== undefined && alive(holder.group, holder.groupStarted ?? '')) {
      endGroup(holder.group, 'SIGTERM');
      for (let waited = 0; waited < 10_000 && alive(holder.group, holder.groupStarted ?? ''); waited += 100) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      endGroup(holder.group, 'SIGKILL');
    }
    rmSync(path, { force: true });
  }
  throw new Problem('conflict', 'Another installer has just begun here.', { advice: 'Wait until it has ended.' });
}

function readHolder(path: string): Holder | undefined {
  try {
    return Holder.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}

/** The start time of a process, in ticks since boot, so that a reused process id isn't mistaken for it. `''` without /proc. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

function alive(pid: number, started: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return startOf(pid) === started;
}
