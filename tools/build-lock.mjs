/** One build at a time in a folder: what is started beside another waits for it, and goes on where the other one died. */
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A holder shows this often that it lives. */
const beatMs = 2_000;
/** Where its processes cannot be seen, as they are on another computer or in another container. */
const deadAfterMs = 20_000;
/** Where they can: after this, whoever has their numbers is somebody else. */
const forgottenAfterMs = 600_000;

/**
 * Runs `work` while nobody else holds `path`. Whoever is killed may leave a program behind that goes on writing: `work` names
 * what it starts by `started`, and the lock is held for as long as one of these lives. `held` says whether it still is.
 * @template T
 * @param {string} path
 * @param {(lock: { held(): boolean, started(pid: number): void }) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(path, work) {
  const id = randomUUID();
  const content = (...pids) => JSON.stringify({ id, host: hostname(), pids: [process.pid, ...pids] });
  await take(path, content());
  const held = () => contentOf(path)?.includes(id) ?? false;
  const started = (pid) => held() && replace(path, content(pid));
  const beat = setInterval(() => held() && touch(path), beatMs);
  try {
    return await work({ held, started });
  } finally {
    clearInterval(beat);
    if (held()) rmSync(path, { force: true });
  }
}

async function take(path, mine) {
  mkdirSync(dirname(path), { recursive: true });
  const own = `${path}.${process.pid}`;
  for (let tries = 0; ; tries++) {
    // Written whole before it gets its name: nobody shall read half of it.
    writeFileSync(own, mine);
    try {
      linkSync(own, path);
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    } finally {
      rmSync(own, { force: true });
    }
    const other = contentOf(path);
    if (other === undefined) continue;
    if (isDead(path, other)) {
      remove(path, other);
      continue;
    }
    if (tries === 10) process.stderr.write(`Waits for another build here (process ${JSON.parse(other).pids[0]}).\n`);
    await sleep(100);
  }
}

function isDead(path, content) {
  const { pids, host } = JSON.parse(content);
  const here = host === hostname();
  if (here && !pids.some(lives)) return true;
  const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return Date.now() - at > (here ? forgottenAfterMs : deadAfterMs);
}

function lives(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

function replace(path, content) {
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, content);
  renameSync(fresh, path);
}

/** Another one may have done the same and taken the lock since: what is not the dead one's is put back. */
function remove(path, dead) {
  const aside = `${path}.${process.pid}.dead`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (error.code === 'ENOENT') return;
    throw error;
  }
  if (contentOf(aside) !== dead && !existsSync(path)) renameSync(aside, path);
  else rmSync(aside, { force: true });
}

function contentOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function touch(path) {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // Taken away meanwhile; `held` says so.
  }
}
