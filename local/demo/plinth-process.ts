/** Runs the real command line as a child process in a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../cli/main.js', import.meta.url));

export interface PlinthRun {
  /** `null` if a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface PlinthProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<PlinthRun>;
  /** Everything written so far. */
  stderr(): string;
}

export interface PlinthOptions {
  /** The working folder, where plinth writes config and secrets. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Copies progress to this process's own output. `terminal`: it has this process's terminal, and draws there itself. */
  readonly show?: boolean | 'terminal';
}

/** A caller's machine: an empty folder and a home without keys or config. */
export const makeFolder = (): string => mkdtempSync(join(tmpdir(), 'plinth-caller-'));
export const homeOf = (folder: string): string => join(folder, '.home');
/** The folder where plinth keeps files for its owner alone. */
const configFolderOf = (folder: string): string => join(homeOf(folder), '.config', 'plinth');

/** Passes on nothing from our own environment except PATH. */
export const callerEnvironment = ({ folder, env }: PlinthOptions): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: homeOf(folder),
  NO_COLOR: '1',
  ...env,
});

/** What a terminal says of itself. */
const terminalVariables = (): Record<string, string> =>
  Object.fromEntries(
    ['TERM', 'COLORTERM', 'NO_COLOR'].map((name): [string, string] => [name, process.env[name] ?? '']),
  );

export function startPlinth(args: readonly string[], options: PlinthOptions): PlinthProcess {
  const { folder, show = false } = options;
  const env = callerEnvironment(options);
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    ...(show === 'terminal'
      ? { env: { ...env, ...terminalVariables() }, stdio: 'inherit' }
      : { env, stdio: ['ignore', 'pipe', 'pipe'] }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk;
    if (show === true) process.stdout.write(chunk);
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk;
    if (show === true) process.stderr.write(chunk);
  });
  const ended = new Promise<PlinthRun>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ exitCode, stdout, stderr }));
  });
  return { child, ended, stderr: () => stderr };
}

export const runPlinth = (args: readonly string[], options: PlinthOptions): Promise<PlinthRun> =>
  startPlinth(args, options).ended;

/** The age identities that plinth stores for its owner. */
export function ageIdentitiesIn(folder: string): string[] {
  const kept = join(configFolderOf(folder), 'age');
  return readdirSync(kept, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => /AGE-SECRET-KEY-1\w+/.exec(readFileSync(join(kept, name), 'utf8'))?.[0])
    .filter((identity) => identity !== undefined);
}
