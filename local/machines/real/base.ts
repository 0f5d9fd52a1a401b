/** The files that all real hosts begin with, made once and kept outside of the checkout under the hash of their recipe. As a program it makes them before the tests. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { sha256 } from '../../../shared/sha256.js';

const cacheFolder = '/var/cache/plinth';

/** Beside the compiled code lie only the sources: scripts stay where they are in the checkout. */
const recipe = fileURLToPath(new URL('../../../../local/machines/real/make-base.sh', import.meta.url));

const baseFolder = (): string => {
  const hash = sha256(readFileSync(recipe));
  return join(cacheFolder, `base-${hash.slice(0, 16)}`);
};

export const hasBase = (): boolean => existsSync(baseFolder());

/** Its folder; where it has to be made that takes some minutes, and root. */
export async function makeBase(onNote: (note: string) => void): Promise<string> {
  const folder = baseFolder();
  if (existsSync(folder)) return folder;
  onNote(`Making the base of real hosts in ${folder}, once: it takes some minutes.`);
  mkdirSync(cacheFolder, { recursive: true });
  const making = `${folder}.${process.pid}`;
  try {
    // In mounts of its own: debootstrap leaves some behind when it is interrupted.
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
    // Whoever was faster has made the same.
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
