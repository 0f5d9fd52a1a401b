/** A control group of Linux that bounds the memory of the processes in it, where this process may make one. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface MemoryGroup {
  /** Goes before a command, which then begins within the group. */
  readonly prefix: readonly string[];
  close(): void;
}

/** Both versions of control groups: the parent folder, and the files that take the limit. */
const places = [
  ['/sys/fs/cgroup/memory', ['memory.limit_in_bytes']],
  ['/sys/fs/cgroup', ['memory.max', 'memory.swap.max']],
] as const;

export function makeMemoryGroup(bytes: number): MemoryGroup | undefined {
  for (const [parent, files] of places) {
    const group = join(parent, `plinth-test-${process.pid}`);
    try {
      if (!existsSync(join(parent, 'cgroup.procs'))) continue;
      mkdirSync(group);
      const [limit, swap] = files;
      writeFileSync(join(group, limit), String(bytes));
      if (swap !== undefined && existsSync(join(group, swap))) writeFileSync(join(group, swap), '0');
      if (Number(readFileSync(join(group, limit), 'utf8')) > bytes) throw new Error('the limit was not taken');
    } catch {
      if (existsSync(group)) rmdirSync(group);
      continue;
    }
    const enter = `echo $$ > ${join(group, 'cgroup.procs')} && exec "$@"`;
    return { prefix: ['sh', '-c', enter, 'sh'], close: () => rmdirSync(group) };
  }
  return undefined;
}
