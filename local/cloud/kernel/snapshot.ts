/** Keeps the state of the simulated cloud in a file, so that a restart continues from there. */
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeWhole } from '../../whole-file.js';
import type { CloudState } from './world.js';

export interface Snapshot {
  /** Call this after a change. The file follows shortly. */
  touch(): void;
  /** Resolves once the file holds the present state. A caller's answer must survive a kill. */
  written(): Promise<void>;
  /** Writes pending changes now. */
  flush(): void;
}

/** One write covers the changes of a moment. The delay grows with the state, so writing takes at most a third of the time. */
const leastDelayMilliseconds = 2;
const delayOverDuration = 2;

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
  const waiting: (() => void)[] = [];

  function write(): void {
    timer = undefined;
    if (file === undefined) return;
    const begun = performance.now();
    mkdirSync(dirname(file), { recursive: true });
    // The file holds keys, so only its owner may read it.
    writeWhole(file, JSON.stringify(state));
    delay = Math.max(leastDelayMilliseconds, delayOverDuration * (performance.now() - begun));
    for (const resolve of waiting.splice(0)) resolve();
  }

  const touch = (): void => {
    if (file !== undefined) timer ??= setTimeout(write, delay).unref();
  };
  return {
    touch,
    async written() {
      if (file === undefined) return;
      touch();
      await new Promise<void>((resolve) => waiting.push(resolve));
    },
    flush() {
      if (timer === undefined) return;
      clearTimeout(timer);
      write();
    },
  };
}
