/** The demo on a terminal: what it wrote and when, and from that the frames that one saw. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import type { Frame } from './recording.js';
import type { Screen, Size } from './screen.js';

const program = fileURLToPath(new URL('../../local/demo.js', import.meta.url));

interface Chunk {
  readonly atMs: number;
  readonly text: string;
}

export interface DemoRun {
  readonly ended: Promise<readonly Chunk[]>;
  /** Resolves once the terminal has shown it, with what matched. */
  saw(pattern: RegExp): Promise<RegExpExecArray>;
}

export function startDemo({ columns, rows }: Size): DemoRun {
  const command = `stty rows ${rows} cols ${columns}; exec '${process.execPath}' '${program}'`;
  const env = { ...process.env, TERM: 'xterm-256color' };
  const child = spawn('script', ['-qfec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const chunks: Chunk[] = [];
  const waiting = new Set<() => void>();
  const seen = (): string => stripVTControlCharacters(chunks.map(({ text }) => text).join(''));
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    chunks.push({ atMs: performance.now(), text });
    for (const look of waiting) look();
  });
  const ended = new Promise<readonly Chunk[]>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(chunks) : reject(new Error(`The demo failed:\n${seen()}`))));
  });
  return {
    ended,
    saw: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = pattern.exec(seen());
          if (found === null) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        ended.then(() => reject(new Error(`The demo never said ${pattern}`)), reject);
        look();
      }),
  };
}

/** So often one looks, in seconds of the run. */
const everySeconds = 0.5;
/** Nothing new is seen for at most so long. */
const mostStillSeconds = 2;

/** `speed`: how many seconds of the run are one of the recording. */
export async function framesOf(chunks: readonly Chunk[], screen: Screen, speed: number): Promise<Frame[]> {
  const frames: Frame[] = [];
  let drawn = '';
  let [at, lookAtMs] = [0, chunks[0]?.atMs ?? 0];
  while (at < chunks.length) {
    lookAtMs += everySeconds * 1000;
    for (; (chunks[at]?.atMs ?? Infinity) <= lookAtMs; at += 1) await screen.write(chunks[at]?.text ?? '');
    const rows = screen.drawn();
    const now = JSON.stringify(rows);
    const last = frames.at(-1);
    if (last === undefined || now !== drawn) frames.push({ rows, seconds: everySeconds / speed });
    else if (last.seconds < mostStillSeconds) {
      frames[frames.length - 1] = { ...last, seconds: last.seconds + everySeconds / speed };
    }
    drawn = now;
  }
  return frames;
}
