/** An earlier release, built in a folder of its own, so that one run measures both. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export interface EarlierRelease {
  readonly commit: string;
  readonly folder: string;
}

/** The one that PLINTH_BENCH_BEFORE names by its commit. */
export function earlierRelease(say: (text: string) => void): EarlierRelease | undefined {
  const commit = process.env['PLINTH_BENCH_BEFORE'];
  if (commit === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'plinth-bench-'));
  say(`  ${commit} is built in ${folder}`);
  execFileSync('git', ['worktree', 'add', '--detach', '--force', folder, commit], { stdio: 'ignore' });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  execFileSync('npm', ['run', '-s', 'build'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  return { commit, folder };
}

export function removeRelease({ folder }: EarlierRelease): void {
  execFileSync('git', ['worktree', 'remove', '--force', folder]);
  rmSync(folder, { recursive: true, force: true });
}
