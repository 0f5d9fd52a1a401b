/**
 * One command at a time renews a login, ends it or puts another in its place: an issuer may take each refresh token but once, and
 * revoke the login of whoever comes with a used one.
 */
import { randomUUID } from 'node:crypto';
import { readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { readIfThere } from '../files/files.js';
import { pause } from '../service/patience.js';
import type { Settings } from '../settings.js';

/** No renewal takes longer: it asks the issuer twice, each time for 20 seconds at most. */
const longestMs = 45_000;
const lookEveryMs = 50;
/** To take an abandoned lock away is a matter of milliseconds. */
const takingAwayMs = 5_000;

/**
 * The login is to be read within: another command may have changed it meanwhile. `interrupted` ends the wait, not the work. Where
 * no lock can be had, as in a folder that takes no files, the work is done without.
 */
export async function aloneWithLogin<T>(
  { configFolder }: Pick<Settings, 'configFolder'>,
  work: () => T | Promise<T>,
  interrupted?: AbortSignal,
): Promise<T> {
  const path = join(configFolder, 'credentials.lock');
  const own = `${process.pid} ${here()} ${randomUUID()}`;
  const until = Date.now() + longestMs;
  try {
    while (!make(path, own) && Date.now() < until) {
      interrupted?.throwIfAborted();
      if (!takeAway(path)) await pause(lookEveryMs, interrupted);
    }
  } catch {
    interrupted?.throwIfAborted();
  }
  try {
    return await work();
  } finally {
    giveBack(path, own);
  }
}

/** Where numbers of processes mean the same: a container may have the name of its host, and processes of its own. */
function here(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return `${hostname()} -`;
  }
}

/** False: it is there already. */
function make(path: string, content: string): boolean {
  try {
    writeFileSync(path, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // A full disk takes the name and not the content.
    rmSync(path, { force: true });
    throw error;
  }
}

function giveBack(path: string, own: string): void {
  try {
    // Whoever slept with it for long finds somebody else's.
    if (readIfThere(path) === own) rmSync(path, { force: true });
  } catch {
    // It is abandoned as soon as this process ends.
  }
}

/** One at a time, and only what is abandoned still: else the slower of two would take away what the faster one has made since. */
function takeAway(path: string): boolean {
  if (!isAbandoned(path)) return false;
  const turn = `${path}.turn`;
  if (!make(turn, '')) {
    // Itself abandoned, by a crash within that moment: the one case in which two could still meet.
    if (ageOf(turn) > takingAwayMs) rmSync(turn, { force: true });
    return false;
  }
  try {
    const abandoned = isAbandoned(path);
    if (abandoned) rmSync(path, { force: true });
    return abandoned;
  } finally {
    rmSync(turn, { force: true });
  }
}

/** Whoever made it is dead, or elsewhere or behind a number that was given again: then its age tells. */
function isAbandoned(path: string): boolean {
  const [pid, ...where] = (readIfThere(path) ?? '').split(' ').slice(0, -1);
  return ageOf(path) > longestMs || (where.join(' ') === here() && !lives(Number(pid)));
}

function ageOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? 0 : Date.now() - found.mtimeMs;
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
