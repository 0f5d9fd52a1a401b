/** Runs `plinth` in a folder and a home of its own: within this process, or as a process where that is what is tested. For tests of the command line. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cliPath, type PlinthHere, startHere, type TerminalSize } from '../support/plinth-here.js';

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
  /** Everything so far, both streams. */
  text(): string;
  saw(pattern: RegExp): Promise<void>;
  /** Of a terminal; Ctrl-C and Ctrl-D are keys. */
  type(keys: string): void;
  /** Ctrl-C, as the signal that it becomes. */
  interrupt(): void;
  readonly ended: Promise<Ran>;
}

export interface StartedProcess extends Started {
  readonly child: ChildProcess;
}

type Env = Readonly<Record<string, string>>;

interface Terminal extends Partial<TerminalSize> {
  readonly env?: Env;
}

export interface Sandbox {
  readonly folder: string;
  readonly home: string;
  readonly configFolder: string;
  env: Record<string, string>;
  start(args: readonly string[], env?: Env): Started;
  run(args: readonly string[], env?: Env): Promise<Ran>;
  /** On a terminal both streams are `stdout`. */
  startOnTerminal(args: readonly string[], terminal?: Terminal): Started;
  /** The real command line as a process: for what happens to a process, such as signals and pipes. */
  spawn(args: readonly string[], env?: Env): StartedProcess;
  /** The same on a terminal of the system, which `script` makes. */
  spawnOnTerminal(args: readonly string[], terminal?: Terminal): StartedProcess;
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
    start: (args, env) => watchHere(startHere(args, { folder, env: { ...sandbox.env, ...env } })),
    run: (args, env) => sandbox.start(args, env).ended,
    startOnTerminal(args, { env, rows = 24, columns = 160 } = {}) {
      return watchHere(startHere(args, { folder, env: { ...sandbox.env, ...env }, terminal: { rows, columns } }));
    },
    spawn(args, env) {
      const child = spawn(process.execPath, [cliPath, ...args], {
        cwd: folder,
        env: { ...sandbox.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      return watch(child);
    },
    spawnOnTerminal(args, { env, rows = 24, columns = 160 } = {}) {
      const quoted = [process.execPath, cliPath, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
      const command = `stty rows ${rows} cols ${columns}; exec ${quoted}`;
      const child = spawn('script', ['-qfec', command, '/dev/null'], {
        cwd: folder,
        env: { ...sandbox.env, ...env },
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      return watch(child);
    },
    path: (name) => join(folder, name),
    read: (name) => readFileSync(join(folder, name), 'utf8'),
    has: (name) => existsSync(join(folder, name)),
    write: (name, content) => writeFileSync(join(folder, name), content),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
  return sandbox;
}

export function watch(child: ChildProcess): StartedProcess {
  let [stdout, stderr] = ['', ''];
  const { look, saw } = createWatcher(() => stdout + stderr);
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
    saw,
    type: (keys) => void child.stdin?.write(keys),
    interrupt: () => void child.kill('SIGINT'),
    ended: new Promise((resolve) => {
      child.on('close', (code) => resolve({ code, stdout, stderr }));
    }),
  };
}

function watchHere({ stdout, stderr, onText, ended, ...keys }: PlinthHere): Started {
  const text = () => stdout() + stderr();
  const { look, saw } = createWatcher(text);
  onText(look);
  return {
    text,
    saw,
    ...keys,
    ended: ended.then(({ exitCode, ...written }) => ({ code: exitCode, ...written })),
  };
}

function createWatcher(text: () => string) {
  const waiting: Array<{ pattern: RegExp; resolve: () => void }> = [];
  const look = () => {
    for (const one of waiting) if (one.pattern.test(text())) one.resolve();
  };
  return {
    look,
    saw: (pattern: RegExp) =>
      new Promise<void>((resolve) => {
        waiting.push({ pattern, resolve });
        look();
      }),
  };
}
