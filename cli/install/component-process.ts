/** Runs one executable of a package: JSON on its standard input, an environment of its own, lines out, an end in time. */
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
  /** Its process group, so that whoever comes after a killed installer can end it. */
  readonly onStart: (group: number) => void;
}

/** `exitCode` undefined: a signal ended it. */
export interface ComponentEnd {
  readonly exitCode: number | undefined;
  readonly why?: 'timeout' | 'interrupted' | undefined;
}

const graceMs = 10_000;

/** Rejects only if it cannot be started. */
export function runExecutable(run: ComponentRun): Promise<ComponentEnd> {
  const { program, folder, environment, input, timeoutSeconds, signal, onLine, onStart } = run;
  return new Promise((resolve, reject) => {
    const child = spawn(program, [], {
      cwd: folder,
      env: environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own: Ctrl-C at a terminal does not reach it, and ending it ends what it started.
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
    // One that needs nothing of it may end without reading.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.once('exit', () => {
      // What it left running with our pipes in hand would keep us waiting for ever.
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

/** Fine if it is gone. */
export function endGroup(group: number | undefined, signal: NodeJS.Signals): void {
  if (group === undefined) return;
  try {
    process.kill(-group, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
