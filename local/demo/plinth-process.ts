/** The real command line as a child process in a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../cli/main.js', import.meta.url));

export interface PlinthRun {
  /** `null` when a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface PlinthProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<PlinthRun>;
  /** What was written so far. */
  stderr(): string;
}

export interface PlinthOptions {
  /** Where it runs: config and secrets are written there. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Progress is shown to whoever runs us. */
  readonly show?: boolean;
}

/** A caller's machine: an empty folder, and a home with no keys and no config. */
export const makeFolder = (): string => mkdtempSync(join(tmpdir(), 'plinth-caller-'));
export const homeOf = (folder: string): string => join(folder, '.home');
/** Where plinth keeps what is its owner's alone. */
const configFolderOf = (folder: string): string => join(homeOf(folder), '.config', 'plinth');

/** Nothing of the environment of whoever runs us gets in, but where programs are. */
export const callerEnvironment = ({ folder, env }: PlinthOptions): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: homeOf(folder),
  NO_COLOR: '1',
  ...env,
});

export function startPlinth(args: readonly string[], options: PlinthOptions): PlinthProcess {
  const { folder, show = false } = options;
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: callerEnvironment(options),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk;
    if (show) process.stdout.write(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
    if (show) process.stderr.write(chunk);
  });
  const ended = new Promise<PlinthRun>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ exitCode, stdout, stderr }));
  });
  return { child, ended, stderr: () => stderr };
}

export const runPlinth = (args: readonly string[], options: PlinthOptions): Promise<PlinthRun> =>
  startPlinth(args, options).ended;

/** The age identities that plinth keeps for its owner. */
export function ageIdentitiesIn(folder: string): string[] {
  const kept = join(configFolderOf(folder), 'age');
  return readdirSync(kept)
    .map((name) => /AGE-SECRET-KEY-1\w+/.exec(readFileSync(join(kept, name), 'utf8'))?.[0])
    .filter((identity) => identity !== undefined);
}
