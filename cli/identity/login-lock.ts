/**
 * Lets only one command at a time renew, end or replace a login. An issuer may accept each refresh token only once, and may
 * revoke the login if a used token comes again.
 */
import { randomUUID } from 'node:crypto';
import { readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { readIfThere } from '../files/files.js';
import { pause } from '../service/patience.js';
import type { Settings } from '../settings.js';

/** No renewal takes longer. It calls the issuer twice, each time for at most 20 seconds. */
const longestMs = 45_000;
const lookEveryMs = 50;
/** Removing an abandoned lock takes milliseconds. */
const takingAwayMs = 5_000;

/**
 * Read the login inside `work`, because another command may have changed it meanwhile. `interrupted` ends the wait, not the
 * work. If no lock can be had, for example in a read-only folder, the work runs without one.
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

/** Names the scope in which process ids are unique. A container may share its host's name, but have its own processes. */
function here(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return `${hostname()} -`;
  }
}

/** False if the lock already exists. */
function make(path: string, content: string): boolean {
  try {
    writeFileSync(path, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    // On a full disk, the name is created but the content is not.
    rmSync(path, { force: true });
    throw error;
  }
}

function giveBack(path: string, own: string): void {
  try {
    // A process that slept for long may find another's lock here.
    if (readIfThere(path) === own) rmSync(path, { force: true });
  } catch {
    // The lock counts as abandoned as soon as this process ends.
  }
}

/**
 * Only one process at a time may remove a lock, and only while it is still abandoned. Otherwise the slower of two would remove
 * the lock that the faster one has just made.
 */
function takeAway(path: string): boolean {
  if (!isAbandoned(path)) return false;
  const turn = `${path}.turn`;
  if (!make(turn, '')) {
    // A crash within those milliseconds abandons the turn, too. Only in this case could two processes still collide.
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

/** Its process is dead. If the process is in another scope, or its id was reused, only the age of the lock decides. */
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
