/** What a process has worked, as Linux counts it. */
import { readdirSync, readFileSync } from 'node:fs';

/** User and system, all threads; Linux counts it in hundredths of a second. */
export function cpuMilliseconds(pid: number | undefined): number {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11, 13).map(Number);
  return ((user ?? 0) + (system ?? 0)) * 10;
}

/** Milliseconds of all cores that this process has worked, and those that it has started and that still run. */
export function workedMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  const children = readdirSync('/proc/self/task')
    .flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, 'utf8').trim().split(' '))
    .filter((pid) => pid !== '');
  return (user + system) / 1000 + children.reduce((sum, pid) => sum + cpuMilliseconds(Number(pid)), 0);
}
