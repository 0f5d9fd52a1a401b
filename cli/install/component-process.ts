/** Runs one executable of a package: JSON on its standard input, its own environment, lines out, and a time limit. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export interface ComponentRun {
  readonly program: string;
  /** The package's folder. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly input: string;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
  readonly onLine: (line: string, from: 'stdout' | 'stderr') => void;
  /** Receives its process group, so that a later installer can end it if this one is killed. */
  readonly onStart: (group: number) => void;
}

/** `exitCode` is undefined if a signal ended it. */
export interface ComponentEnd {
  readonly exitCode: number | undefined;
  readonly why?: 'timeout' | 'interrupted' | undefined;
}

const graceMs = 10_000;

/** Rejects only if the executable cannot be started. */
export function runExecutable(run: ComponentRun): Promise<ComponentEnd> {
  const { program, folder, environment, input, timeoutSeconds, signal, onLine, onStart } = run;
  return new Promise((resolve, reject) => {
    const child = spawn(program, [], {
      cwd: folder,
      env: environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      // In a process group of its own: Ctrl-C at a terminal doesn't reach it, and ending the group ends its children too.
      detached: true,
    });
    let why: ComponentEnd['why'];
    let killer: NodeJS.Timeout | undefined;
    const stop = (reason: ComponentEnd['why']) => {
      if (why !== undefined) return;
      why = reason;
      endGroup(child.pid, 'SIGTERM');
      killer = setTimeout(() => endGroup(child.pid, 'SIGKILL'), graceMs);
    };
    const timer = setTimeout(() => stop('timeout'), timeoutSeconds * 1000);
    const interrupted = () => stop('interrupted');
    const settle = () => {
      clearTimeout(timer);
      clearTimeout(killer);
      signal.removeEventListener('abort', interrupted);
    };
    child.once('error', (error) => {
      settle();
      reject(error);
    });
    child.once('spawn', () => {
      if (child.pid !== undefined) onStart(child.pid);
      if (signal.aborted) interrupted();
      else signal.addEventListener('abort', interrupted);
    });
    const lines = (stream: Readable, from: 'stdout' | 'stderr') =>
      createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => onLine(line, from));
    lines(child.stdout, 'stdout');
    lines(child.stderr, 'stderr');
    // An executable that needs no input may end without reading it.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.once('exit', () => {
      // Processes that it left running may hold our pipes, and would keep us waiting for ever.
      setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, 1000).unref();
    });
    child.once('close', (code) => {
      settle();
      resolve({ exitCode: code ?? undefined, why });
    });
  });
}

/** Does nothing if the group has already ended. */
export function endGroup(group: number | undefined, signal: NodeJS.Signals): void {
  if (group === undefined) return;
  try {
    process.kill(-group, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
