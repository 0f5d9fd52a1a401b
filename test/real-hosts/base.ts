/**
 * The files that all real hosts begin with. They are made once and stored outside the checkout, under the hash of their
 * recipe. Run as a program, this makes them before the tests.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { sha256 } from '../../shared/sha256.js';

const cacheFolder = '/var/cache/plinth';

/** The build compiles only sources. Scripts stay in the checkout. */
const recipe = fileURLToPath(new URL('../../../test/real-hosts/make-base.sh', import.meta.url));

const baseFolder = (): string => {
  const hash = sha256(readFileSync(recipe));
  return join(cacheFolder, `base-${hash.slice(0, 16)}`);
};

export const hasBase = (): boolean => existsSync(baseFolder());

/** Returns the base's folder. Making it takes some minutes, and needs root. */
export async function makeBase(onNote: (note: string) => void): Promise<string> {
  const folder = baseFolder();
  if (existsSync(folder)) return folder;
  onNote(`Making the base of real hosts in ${folder}, once: it takes some minutes.`);
  mkdirSync(cacheFolder, { recursive: true });
  const making = `${folder}.${process.pid}`;
  try {
    // A mount namespace of its own, because debootstrap leaves mounts behind when it is interrupted.
    const child = spawn('unshare', ['--mount', 'bash', recipe, making], { stdio: ['ignore', 'pipe', 'pipe'] });
    const [said, complaint, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve)),
    ]);
    if (code !== 0) {
      const last = `${said}\n${complaint}`.trim().split('\n').slice(-3).join('; ');
      throw new Error(`The base of real hosts could not be made, exit code ${code}: ${last}`);
    }
    // A faster process has made the same.
    if (!existsSync(folder)) renameSync(making, folder);
    return folder;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  makeBase(say).then(say, (error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
}
