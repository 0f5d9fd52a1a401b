/** Runs `plinth` within the process of the tests, at a caller's folder: the same code, without what the start of a process costs. */
import { EventEmitter } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { runPlinth } from '../../cli/run.js';
import { callerEnvironment, type PlinthRun } from '../../local/demo/plinth-process.js';

export const cliPath = fileURLToPath(new URL('../../cli/main.js', import.meta.url));

export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

export interface PlinthHere {
  readonly ended: Promise<PlinthRun>;
  /** What was written so far. On a terminal all of it is in `stdout`. */
  stdout(): string;
  stderr(): string;
  /** Called after each piece that is written. */
  onText(hear: () => void): void;
  /** Keys of a terminal, Ctrl-C and Ctrl-D among them. */
  type(keys: string): void;
  /** Ctrl-C, as the signal that a process gets of it. */
  interrupt(): void;
}

interface Place {
  /** Where relative paths begin. */
  readonly folder: string;
  /** All of the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Without one standard input is empty. */
  readonly terminal?: TerminalSize | undefined;
}

/** Node and Google's library read these of their process, which is not plinth's own here. */
const ofProcess = /^(?:NODE|GOOGLE|GCE|METADATA)_/;

export function startHere(args: readonly string[], { folder, env, terminal }: Place): PlinthHere {
  const unheard = Object.keys(env).filter((name) => ofProcess.test(name));
  if (unheard.length > 0) throw new Error(`${unheard.join(', ')} is read by a process alone: spawn one`);
  const written = { stdout: '', stderr: '' };
  const events = new EventEmitter();
  const stdin = createKeyboard(terminal !== undefined);
  const output = (name: keyof typeof written) => {
    const stream = new Writable({
      decodeStrings: false,
      write(text: string | Buffer, _encoding, done) {
        written[name] += text;
        events.emit('text');
        done();
      },
    });
    return terminal === undefined ? stream : Object.assign(stream, { isTTY: true, ...terminal });
  };
  const ended = new Promise<number>((resolve, reject) => {
    runPlinth(args, {
      stdin,
      stdout: output('stdout'),
      stderr: output(terminal === undefined ? 'stderr' : 'stdout'),
      get inherited(): never {
        throw new Error('ssh takes over the streams of its process: spawn one');
      },
      readStdin: () => '',
      env,
      folder,
      program: [process.execPath, cliPath],
      events,
      exit: resolve,
    }).then(resolve, reject);
  });
  const interrupt = () => void events.emit('SIGINT');
  return {
    ended: ended.then((exitCode) => ({ exitCode, ...written })),
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    onText: (hear) => void events.on('text', hear),
    type(keys) {
      if (stdin.isRaw || !['\u0003', '\u0004'].includes(keys)) stdin.write(keys);
      else if (keys === '\u0003') interrupt();
      else stdin.end();
    },
    interrupt,
  };
}

/** As a caller at a machine of their own. */
export const startAt = (args: readonly string[], { folder, env }: Place): PlinthHere =>
  startHere(args, { folder, env: callerEnvironment({ folder, env }) });
export const runAt = (args: readonly string[], place: Place): Promise<PlinthRun> => startAt(args, place).ended;

/** Keys go through as they are; what a raw terminal would not do with Ctrl-C is the matter of whoever types. */
function createKeyboard(isTTY: boolean) {
  const keyboard = Object.assign(new PassThrough(), {
    isTTY,
    isRaw: false,
    setRawMode(raw: boolean) {
      keyboard.isRaw = raw;
      return keyboard as unknown as NodeJS.ReadStream;
    },
  });
  if (!isTTY) keyboard.end();
  return keyboard;
}
