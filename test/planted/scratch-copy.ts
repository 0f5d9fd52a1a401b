/** A copy of the project in a temporary folder, in which faults are planted and taken out again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Edit } from './fault.js';
import { placesOf, sourcesIn } from './sources.js';

interface Ran {
  readonly code: number | null;
  /** Both streams. */
  readonly output: string;
}

interface Limits {
  readonly longestMs?: number;
  /** Beside the variables of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ScratchCopy {
  readonly folder: string;
  /** Killed after ten minutes, unless `limits` says otherwise. */
  run(command: string, args: readonly string[], limits?: Limits): Promise<Ran>;
  /** With the executable that machines get. Throws what the build says where it fails. */
  build(): Promise<void>;
  /** Gives the files it changed. Throws where an edit has not exactly one place. */
  plant(edits: readonly Edit[]): readonly string[];
  /** As it was before the last planting. The next build compiles it. */
  restore(): void;
  /** Ends what still runs in it. */
  remove(): Promise<void>;
}

/** A fault may keep a test from ever ending. */
const tenMinutesMs = 600_000;

/** At the top of the project. */
const isLeftOut = (name: string): boolean => /^(node_modules|\.git|\.plinth-local|dist.*)$/.test(name);

/** A signal ends the process, and removes the copy before. */
export function createScratchCopy(root: string): ScratchCopy {
  // First: copying takes a second, and a signal waits until it is done.
  onSignals(() => copy.remove());
  const top = mkdtempSync(join(tmpdir(), 'plinth-planted-'));
  const folder = join(top, 'project');
  const temporary = join(top, 'tmp');
  mkdirSync(temporary);
  cpSync(root, folder, {
    recursive: true,
    filter: (path) => dirname(path) !== root || !isLeftOut(basename(path)),
  });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  allowUnusedNames(join(folder, 'tsconfig.json'));

  const before = new Map<string, string>();
  const running = new Set<ChildProcess>();
  let removing = false;

  const copy: ScratchCopy = {
    folder,

    async run(command, args, { longestMs = tenMinutesMs, env = {} } = {}) {
      // A group of its own, so that what it starts ends with it; what tests leave in TMPDIR goes with the copy.
      const child = spawn(command, args, {
        cwd: folder,
        env: { ...process.env, TMPDIR: temporary, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      running.add(child);
      const timer = setTimeout(() => kill(child), longestMs);
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data));
      try {
        const [code] = (await once(child, 'close')) as [number | null];
        // Whoever waits for it would go on in a folder that is being removed.
        return removing ? await new Promise<never>(() => undefined) : { code, output };
      } finally {
        clearTimeout(timer);
        running.delete(child);
      }
    },

    async build() {
      const { code, output } = await copy.run('npm', ['run', '-s', 'build:release']);
      if (code !== 0) throw new Error(`It does not build:\n${output}`);
    },

    plant(edits) {
      for (const { find, put } of edits) {
        const path = placeOf(folder, find);
        const text = readFileSync(path, 'utf8');
        if (!before.has(path)) before.set(path, text);
        writeFileSync(
          path,
          text.replace(find, () => put),
        );
      }
      return [...before.keys()].map((path) => path.slice(folder.length + 1));
    },

    restore() {
      for (const [path, text] of before) writeFileSync(path, text);
      before.clear();
    },

    async remove() {
      removing = true;
      const ended = [...running].map((child) => once(child, 'close'));
      for (const child of running) kill(child);
      await Promise.all(ended);
      rmSync(top, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return copy;
}

function onSignals(remove: () => Promise<void>): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => void remove().finally(() => process.exit(code)));
  }
}

/** With all that it started. */
function kill({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // All of it has ended, and only what it said is still on its way.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A fault may leave behind a name that nobody uses any more. */
function allowUnusedNames(path: string): void {
  const config = JSON.parse(readFileSync(path, 'utf8')) as { compilerOptions: Record<string, unknown> };
  Object.assign(config.compilerOptions, { noUnusedLocals: false, noUnusedParameters: false });
  writeFileSync(path, JSON.stringify(config));
}

/** By the text alone, so that a file may move. */
function placeOf(folder: string, find: string): string {
  const places = placesOf(sourcesIn(folder), find);
  const [place, ...more] = places;
  if (place === undefined || more.length > 0) {
    throw new Error(`This stands ${places.length} times in the sources, not once: ${find}`);
  }
  return place;
}
