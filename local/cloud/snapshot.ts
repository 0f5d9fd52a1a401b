/** Keeps the state of the simulated cloud in a file, so that a restarted one goes on where the last one stopped. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CloudState } from './world.js';

export interface Snapshot {
  /** To be called after a change; the file follows shortly. */
  touch(): void;
  /** Writes what is not written yet. */
  flush(): void;
}

/** Long enough to take the many changes of one moment together; and a big state is not to cost more than a tenth of the time. */
const leastDelayMilliseconds = 100;
const delayOverDuration = 10;

export function readSnapshot(file: string | undefined): CloudState | undefined {
  if (file === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const state = JSON.parse(text) as CloudState;
  if (state.schema !== 1) throw new Error(`${file} is a snapshot of another version; remove it to begin anew`);
  return state;
}

export function createSnapshot(file: string | undefined, state: CloudState): Snapshot {
  let timer: NodeJS.Timeout | undefined;
  let delay = leastDelayMilliseconds;
  const write = (): void => {
    timer = undefined;
    if (file === undefined) return;
    const begun = performance.now();
    mkdirSync(dirname(file), { recursive: true });
    // A reader, or a crash, sees the old file or the new one, never half of one. It holds keys: for the owner alone.
    writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
    renameSync(`${file}.new`, file);
    delay = Math.max(leastDelayMilliseconds, delayOverDuration * (performance.now() - begun));
  };
  return {
    touch() {
      if (file !== undefined) timer ??= setTimeout(write, delay).unref();
    },
    flush() {
      if (timer === undefined) return;
      clearTimeout(timer);
      write();
    },
  };
}
