/** Runs the real `plinth` as a process, in a folder and a home of its own. For tests of the command line. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const cliPath = fileURLToPath(new URL('../../cli/main.js', import.meta.url));

/** The five that are required. */
export const five = [
  '--project-name=demo',
  '--billing-account=012345-6789AB-CDEF01',
  '--base-domain=demo.example.com',
  '--forge1-app-client-id=client',
  '--forge1-app-client-secret=app-secret',
];
export const bootstrap = ['beta', 'bootstrap-cloud'];

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcess;
  /** Everything so far, both streams. */
  text(): string;
  saw(pattern: RegExp): Promise<void>;
  readonly ended: Promise<Ran>;
}

export interface Sandbox {
  readonly folder: string;
  readonly home: string;
  readonly configFolder: string;
  env: Record<string, string>;
  start(args: readonly string[], env?: Readonly<Record<string, string>>): Started;
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ran>;
  path(name: string): string;
  read(name: string): string;
  has(name: string): boolean;
  write(name: string, content: string): void;
  remove(): void;
}

export const testKey =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBvzZpkM1mOAq0YPoqJz8b4Zr1d1yG2Q0eN6q1S0b2Xy alice@example.com';

export function createSandbox(endpoint?: string): Sandbox {
  const root = mkdtempSync(join(tmpdir(), 'plinth-cli-'));
  const [folder, home] = [join(root, 'work'), join(root, 'home')];
  mkdirSync(folder);
  mkdirSync(join(home, '.ssh'), { recursive: true });
  writeFileSync(join(home, '.ssh', 'id_rsa.pub'), `${testKey}\n`);
  const sandbox: Sandbox = {
    folder,
    home,
    configFolder: join(home, '.config', 'plinth'),
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      TERM: 'xterm',
      PLINTH_TOKEN: 'token-of-alice',
      ...(endpoint !== undefined && { PLINTH_ENDPOINT: endpoint }),
    },
    start(args, env = {}) {
      const child = spawn(process.execPath, [cliPath, ...args], {
        cwd: folder,
        env: { ...sandbox.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      return watch(child);
    },
    run: (args, env) => sandbox.start(args, env).ended,
    path: (name) => join(folder, name),
    read: (name) => readFileSync(join(folder, name), 'utf8'),
    has: (name) => existsSync(join(folder, name)),
    write: (name, content) => writeFileSync(join(folder, name), content),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
  return sandbox;
}

export function watch(child: ChildProcess): Started {
  let [stdout, stderr] = ['', ''];
  const waiting: Array<{ pattern: RegExp; resolve: () => void }> = [];
  const look = () => {
    for (const one of waiting) if (one.pattern.test(stdout + stderr)) one.resolve();
  };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    look();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    look();
  });
  return {
    child,
    text: () => stdout + stderr,
    saw: (pattern) =>
      new Promise((resolve) => {
        waiting.push({ pattern, resolve });
        look();
      }),
    ended: new Promise((resolve) => {
      child.on('close', (code) => resolve({ code, stdout, stderr }));
    }),
  };
}
