/**
 * One session of a login: exec, shell, pseudo-terminal, environment, signals, the SFTP subsystem. Its programs run in the VM.
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { ServerChannel, Session } from 'ssh2';
import { type Sandbox, sftpServer } from '../sandbox.js';

interface SessionOptions {
  readonly sandbox: Sandbox;
  readonly user: string;
  readonly mayUseSudo: boolean;
  /** The only command that this key may run. */
  readonly command?: string | undefined;
}

interface Terminal {
  readonly term: string;
  rows: number;
  cols: number;
}

interface OpenTerminal extends Terminal {
  /** A file that names the terminal's device. */
  readonly file: string;
}

/** The AcceptEnv of sshd on Ubuntu. */
const acceptedEnvironment = /^(LANG|LC_\w+)$/;

let terminals = 0;

export function serveSession(session: Session, { sandbox, user, mayUseSudo, command: forced }: SessionOptions): void {
  const env: Record<string, string> = {};
  let terminal: OpenTerminal | undefined;
  let program: ChildProcessWithoutNullStreams | undefined;

  session.on('env', (accept, reject, { key, val }) => {
    const allowed = acceptedEnvironment.test(key);
    if (allowed) env[key] = val;
    // Both are undefined if the client wants no answer.
    if (allowed) accept?.();
    else reject?.();
  });
  session.on('pty', (accept, _reject, { rows, cols, ...info }) => {
    const term = (info as { term?: string }).term || 'vt100';
    terminal = { term, rows: rows || 24, cols: cols || 80, file: `/run/terminal-${++terminals}` };
    accept?.();
  });
  session.on('window-change', (accept, _reject, { rows, cols }) => {
    accept?.();
    if (terminal === undefined) return;
    const resize = `stty -F "$(cat ${terminal.file})" rows ${Number(rows)} cols ${Number(cols)}`;
    sandbox.run({ user: 'root', argv: ['/bin/bash', '-c', resize] }).on('error', () => undefined);
  });
  session.on('signal', (accept, _reject, { name }) => {
    accept?.();
    kill(program, `SIG${name.replace(/^SIG/, '')}`);
  });
  session.on('exec', (accept, _reject, { command }) => serve(accept(), forced ?? command));
  session.on('shell', (accept) => serve(accept(), forced));
  session.on('subsystem', (accept, reject, { name }) => {
    if (name !== 'sftp') return reject();
    serve(accept(), forced, sftpServer);
  });

  /** An undefined `command` means a login shell. */
  function serve(channel: ServerChannel | undefined, command: string | undefined, argv?: readonly string[]): void {
    if (channel === undefined) return;
    const started = sandbox.run({
      user,
      argv: argvOf(terminal, command, argv),
      env: { ...env, ...terminalEnv() },
      mayUseSudo,
    });
    program = started;
    channel.on('error', () => undefined);
    channel.pipe(started.stdin);
    started.stdout.pipe(channel, { end: false });
    started.stderr.pipe(channel.stderr, { end: false });
    for (const pipe of [started.stdin, started.stdout, started.stderr]) pipe.on('error', () => undefined);
    started.on('error', () => channel.close());
    started.on('exit', (code, signal) => {
      if (signal === null) channel.exit(code ?? 255);
      else channel.exit(signal.slice('SIG'.length), false, '');
    });
    // As with OpenSSH, a background program that holds the output keeps the session open.
    started.on('close', () => {
      // What the program said last may still wait for the client's window.
      channel.stderr.end(() => channel.end(() => channel.close()));
    });
    channel.on('close', () => {
      // Without a terminal the program gets no signal. It finds its pipes broken.
      if (terminal !== undefined) kill(started, 'SIGHUP');
      for (const pipe of [started.stdin, started.stdout, started.stderr]) pipe.destroy();
      session.emit('close');
    });
  }

  const terminalEnv = (): Record<string, string> => (terminal === undefined ? {} : { TERM: terminal.term });
}

function argvOf(
  terminal: OpenTerminal | undefined,
  command: string | undefined,
  argv?: readonly string[],
): readonly string[] {
  const inner = argv !== undefined && command === undefined ? argv : undefined;
  const run = inner ?? (command === undefined ? ['/bin/bash', '-l'] : ['/bin/bash', '-c', command]);
  const fromHome = ['/bin/bash', '-c', 'cd 2>/dev/null; exec "$@"', 'sshd', ...run];
  if (terminal === undefined) return fromHome;
  const { rows, cols, file } = terminal;
  const inTerminal = `tty > ${file}; stty rows ${rows} cols ${cols}; cd 2>/dev/null; exec ${run.map(quoted).join(' ')}`;
  return ['script', '-qefc', inTerminal, '/dev/null'];
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Signals the program and everything it started in the foreground. */
function kill(program: ChildProcessWithoutNullStreams | undefined, signal: string): void {
  if (program?.pid === undefined || program.exitCode !== null || program.signalCode !== null) return;
  try {
    process.kill(-program.pid, signal as NodeJS.Signals);
  } catch {
    // It has ended, or there is no such signal.
  }
}
