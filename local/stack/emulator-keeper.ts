/**
 * A small process beside the emulators, which survive a cloud half that was killed, so that the next one finds them. If none
 * comes for a while, the keeper ends them.
 *
 * The cloud half starts the keeper, and ends it on a clean stop.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { endEmulator, isAlive, isEmulator } from '../emulators/emulators.js';
import { openStateFolder } from './state-folder.js';

const patienceMs = 10 * 60_000;
const lookEveryMs = 2000;

const [path = '', startedBy = ''] = process.argv.slice(2);
const folder = openStateFolder(path);

/** Whether the half that started the keeper is alive, or one that came after it. */
const somebodyIsThere = (): boolean => isAlive(Number(startedBy)) || isAlive(folder.readCloud()?.pid ?? 0);

let aloneSince: number | undefined;
for (;;) {
  await sleep(lookEveryMs);
  const emulators = folder.readEmulators().filter(({ pid }) => isEmulator(pid));
  if (somebodyIsThere()) {
    aloneSince = undefined;
    continue;
  }
  if (emulators.length === 0) break;
  aloneSince ??= Date.now();
  if (Date.now() - aloneSince < patienceMs) continue;
  await Promise.all(emulators.map(({ pid }) => endEmulator(pid)));
  break;
}
