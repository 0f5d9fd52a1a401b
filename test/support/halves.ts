/** `npm run local` as child processes, whole or by halves, to be killed and started again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type CloudRecord, openStateFolder } from '../../local/stack/state-folder.js';

const program = fileURLToPath(new URL('../../local/main.js', import.meta.url));

export type Half = 'cloud' | 'functions';

export interface Process {
  readonly child: ChildProcess;
  /** `null` when a signal ended it. */
  readonly ended: Promise<number | null>;
  output(): string;
}

/** `npm run local -- <args>`, as npm would run it. */
export const startLocal = (args: readonly string[], cwd?: string): Process => startProgram(program, args, { cwd });

export function startProgram(
  path: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd?: string | undefined; readonly env?: Readonly<Record<string, string>> } = {},
): Process {
  const child = spawn(process.execPath, ['--', path, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
  });
  let output = '';
  const keep = (chunk: Buffer) => {
    output += chunk;
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, ended, output: () => output };
}

export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  seconds = 200,
): Promise<T> {
  const patience = Date.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > patience) throw new Error(`not within ${seconds} s: ${what}`);
    await sleep(50);
  }
}

export interface Halves {
  readonly state: string;
  record(): CloudRecord;
  /** Origin of the functions. */
  url(): string;
  start(half: Half): Promise<void>;
  /** kill -9, and waits until it has gone. */
  kill(half: Half): Promise<void>;
  output(half: Half): string;
  /** Both in an orderly way; their exit codes: null for one that did not end within a minute. */
  stop(): Promise<(number | null)[]>;
}

export function makeHalves(options: readonly string[] = []): Halves {
  const state = mkdtempSync(join(tmpdir(), 'plinth-halves-'));
  const envFile = join(state, 'env');
  const running = new Map<Half, Process>();
  const folder = openStateFolder(state);
  const record = (): CloudRecord => {
    const found = folder.readCloud();
    if (found === undefined) throw new Error('the cloud half is not there');
    return found;
  };
  return {
    state,
    record,
    url: () => folder.readFunctions()?.origin ?? '',
    async start(half) {
      const args = ['--only', half, '--store', 'emulator', '--state', state, ...options];
      const process = startLocal(half === 'functions' ? [...args, '--env-file', envFile] : args);
      running.set(half, process);
      await until(`${half} half is up: ${process.output()}`, () => {
        if (process.child.exitCode !== null) throw new Error(`the ${half} half ended: ${process.output()}`);
        const ready = half === 'functions' ? existsSync(envFile) : process.output().includes('stands for Google is at');
        return ready ? true : undefined;
      });
    },
    async kill(half) {
      const process = running.get(half);
      process?.child.kill('SIGKILL');
      await process?.ended;
      running.delete(half);
      rmSync(half === 'functions' ? envFile : '', { force: true });
    },
    output: (half) => running.get(half)?.output() ?? '',
    async stop() {
      const codes: (number | null)[] = [];
      for (const half of ['functions', 'cloud'] as const) {
        const process = running.get(half);
        if (process === undefined) continue;
        process.child.kill('SIGTERM');
        const late = setTimeout(() => process.child.kill('SIGKILL'), 60_000);
        codes.push(await process.ended);
        clearTimeout(late);
      }
      running.clear();
      rmSync(state, { recursive: true, force: true });
      return codes;
    },
  };
}

/** Of a stack that is starting: its variables, once all is ready. */
export const envFileOf = (run: Process, file: string): Promise<Record<string, string>> =>
  until('the env file', () => {
    if (run.child.exitCode !== null) throw new Error(run.output());
    try {
      return readEnvFile(file);
    } catch {
      return undefined;
    }
  });

export const readEnvFile = (file: string): Record<string, string> =>
  Object.fromEntries(
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
