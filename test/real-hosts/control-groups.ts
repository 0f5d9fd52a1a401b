/**
 * The control groups in which each real host's systemd keeps its services. Their names tell who made them, because they
 * survive an owner that was killed.
 */
import { readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

/** When a process began, in ticks since this computer started. The process id alone may be reused. */
function beginOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19];
  } catch {
    return undefined;
  }
}

let last = 0;

/** A new name for a group of this process. */
export const groupName = (): string => `plinth-${process.pid}-${beginOf(process.pid)}-${++last}`;

/** False while something in it still runs. */
export function removeGroup(folder: string): boolean {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && !removeGroup(join(folder, entry.name))) return false;
    }
    rmdirSync(folder);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** Removes the groups whose owners are gone. */
export function sweepGroups(mountPoint: string): void {
  for (const name of readdirSync(mountPoint)) {
    const [, pid, begun] = /^plinth-(\d+)-(\d+)-\d+$/.exec(name) ?? [];
    if (pid !== undefined && beginOf(Number(pid)) !== begun) removeGroup(join(mountPoint, name));
  }
}
