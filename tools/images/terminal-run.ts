/** A person at a terminal: the commands that they type, the answers that they give, and the frames that one sees of it. */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import type { Frame } from './recording.js';
import type { Screen, Size } from './screen.js';

interface Chunk {
  readonly atMs: number;
  readonly text: string;
}

export interface TerminalRun {
  /** What was written, and when. Rejects if a command fails. */
  readonly ended: Promise<readonly Chunk[]>;
  /** Resolves once the terminal has shown it. Rejects if the commands end without it. */
  saw(pattern: RegExp): Promise<void>;
  /** Waits for the question, and answers it as fast as a person does. */
  answer(question: RegExp, text: string): Promise<void>;
}

export interface Typed {
  readonly commands: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

const thinkMs = 700;

/** Each command stands on the screen before it runs. The first that fails ends it. */
const scriptOf = ({ columns, rows }: Size, commands: readonly string[]): string =>
  [
    `stty rows ${rows} cols ${columns}`,
    'set -e',
    ...commands.flatMap((command) => [`printf '\\033[1m$ %s\\033[0m\\n' '${command}'`, 'sleep 1', command, 'echo']),
  ].join('\n');

export function startTerminal(size: Size, { commands, folder, env }: Typed): TerminalRun {
  const child = spawn('script', ['-qfec', scriptOf(size, commands), '/dev/null'], {
    cwd: folder,
    env: { ...env, TERM: 'xterm-256color', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const chunks: Chunk[] = [];
  const waiting = new Set<() => void>();
  const seen = (): string => stripVTControlCharacters(chunks.map(({ text }) => text).join('')).replaceAll('\r', '');
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    chunks.push({ atMs: performance.now(), text });
    for (const look of waiting) look();
  });
  const ended = new Promise<readonly Chunk[]>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve(chunks) : reject(new Error(`It ended with ${code}:\n${seen()}`)),
    );
  });
  const saw = (pattern: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!pattern.test(seen())) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      ended.then(() => reject(new Error(`It never said ${pattern}:\n${seen()}`)), reject);
      look();
    });
  return {
    ended,
    saw,
    async answer(question, text) {
      await saw(question);
      await sleep(thinkMs);
      child.stdin.write(`${text}\n`);
    },
  };
}

/** So often one looks, in seconds. */
const everySeconds = 0.5;
/** So many frames show how it moves. Of the more that a slow computer makes, these are taken evenly. */
const mostFrames = 180;
/** Nothing new is seen for at most so long. */
const mostStillSeconds = 1.5;
/** So long one may read what it rests on. */
const restSeconds = 6;

export interface Filmed {
  /** The caller's, which is written as shells do: a picture tells no path of the computer it was made on. */
  readonly home: string;
  /** It rests once this is the last line. */
  readonly restsAt: string;
}

export async function framesOf(chunks: readonly Chunk[], screen: Screen, { home, restsAt }: Filmed): Promise<Frame[]> {
  const frames: Frame[] = [];
  let rested = false;
  let drawn = '';
  let [at, lookAtMs] = [0, chunks[0]?.atMs ?? 0];
  while (at < chunks.length) {
    for (; (chunks[at]?.atMs ?? Infinity) <= lookAtMs; at += 1)
      await screen.write((chunks[at]?.text ?? '').replaceAll(home, '~'));
    lookAtMs += everySeconds * 1000;
    const rows = screen.drawn();
    const now = JSON.stringify(rows);
    const last = frames.at(-1);
    if (last === undefined || now !== drawn) {
      const rests: boolean = !rested && screen.lines().findLast((line) => line !== '') === restsAt;
      rested ||= rests;
      frames.push({ rows, seconds: rests ? restSeconds : everySeconds, rests });
    } else if (last.seconds < mostStillSeconds) {
      frames[frames.length - 1] = { ...last, seconds: last.seconds + everySeconds };
    }
    drawn = now;
  }
  const share = Math.min(1, mostFrames / frames.length);
  const isTaken = (n: number): boolean =>
    n + 1 === frames.length || Math.floor((n + 1) * share) > Math.floor(n * share);
  return frames.filter(({ rests }, n) => rests || isTaken(n));
}
