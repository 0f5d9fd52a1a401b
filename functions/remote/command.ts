/** Runs one command on a machine, over its own channel. */
import { constants } from 'node:os';
import type { Client, ClientChannel } from 'ssh2';
import { Problem } from '../../shared/problems.js';
import type { ExecOptions } from './remote.js';
import { type Bounds, within } from './within.js';

export interface Ran {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

const execSeconds = 60;
const openTries = 50;
const openTryMilliseconds = 100;
const maxOutputBytes = 17 * 1024 * 1024;

export const execute = (
  client: Client,
  bounds: Bounds,
  command: string,
  { stdin, timeoutSeconds = execSeconds, signal }: ExecOptions,
): Promise<Ran> =>
  within(bounds, 'end a command', { seconds: timeoutSeconds, signal }, (resolve, reject) => {
    let channel: ClientChannel | undefined;
    let stopped = false;
    const open = (triesLeft: number): void => {
      if (stopped) return;
      client.exec(command, (error, opened) => {
        if (error !== undefined) {
          // A command that was just given up may hold its session for another moment.
          if (triesLeft > 0 && !bounds.gone.aborted) setTimeout(() => open(triesLeft - 1), openTryMilliseconds);
          else reject(bounds.lost(`it takes no session (${error.message})`));
          return;
        }
        channel = opened;
        if (stopped) return giveUp(opened, bounds);
        follow(opened, bounds, resolve, reject);
        opened.end(stdin === undefined ? undefined : Buffer.from(stdin));
      });
    };
    open(openTries);
    return () => {
      stopped = true;
      if (channel !== undefined) giveUp(channel, bounds);
    };
  });

/** Ends a command. Closing its channel alone doesn't end it, and the command would keep its session. */
function giveUp(channel: ClientChannel, { gone }: Bounds): void {
  if (gone.aborted) return;
  channel.on('error', () => undefined);
  try {
    channel.signal('TERM');
    channel.close();
  } catch {
    // It has ended meanwhile.
  }
}

function follow(
  channel: ClientChannel,
  { name, lost }: Bounds,
  resolve: (ran: Ran) => void,
  reject: (error: unknown) => void,
): void {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  let bytes = 0;
  let exitCode: number | undefined;
  const take = (into: Buffer[]) => (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxOutputBytes) reject(new Problem('host-failed', `A command on ${name} says too much to be kept.`));
    else into.push(chunk);
  };
  channel.on('data', take(out));
  channel.stderr.on('data', take(err));
  channel.on('error', () => undefined);
  channel.on('exit', (code: number | null, signal?: string) => {
    const number = constants.signals[`SIG${signal?.replace(/^SIG/, '')}` as NodeJS.Signals] ?? 0;
    exitCode = code ?? 128 + number;
  });
  channel.on('close', () => {
    if (exitCode === undefined) reject(lost('a command ended without an exit code'));
    else resolve({ exitCode, stdout: Buffer.concat(out), stderr: Buffer.concat(err) });
  });
}
