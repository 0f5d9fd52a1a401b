/** An earlier release, built in a folder of its own, so that one run measures both. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export interface EarlierRelease {
  readonly commit: string;
  readonly folder: string;
}

/** Where measurements, each in its own process, find what was built. */
const variables = { commit: 'PLINTH_BENCH_BEFORE', folder: 'PLINTH_BENCH_BEFORE_FOLDER' } as const;

export const wantedCommit = (): string | undefined => process.env[variables.commit];

export const environmentWith = (earlier: EarlierRelease | undefined): NodeJS.ProcessEnv => ({
  ...process.env,
  [variables.commit]: earlier?.commit,
  [variables.folder]: earlier?.folder,
});

/** For a measurement: the one that stands beside this release. */
export function earlierRelease(): EarlierRelease | undefined {
  const { [variables.commit]: commit, [variables.folder]: folder } = process.env;
  return commit === undefined || folder === undefined ? undefined : { commit, folder };
}

export function buildRelease(commit: string): EarlierRelease {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-bench-'));
  try {
    execFileSync('git', ['worktree', 'add', '--detach', '--force', folder, commit], { stdio: 'ignore' });
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    execFileSync('npm', ['run', '-s', 'build'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    return { commit, folder };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    execFileSync('git', ['worktree', 'prune']);
    throw error;
  }
}

export function removeRelease({ folder }: EarlierRelease): void {
  execFileSync('git', ['worktree', 'remove', '--force', folder]);
  rmSync(folder, { recursive: true, force: true });
}
