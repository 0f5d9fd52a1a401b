/** Quotes the words of shell commands on machines, and explains their failures. */
import { saysNoRoom } from '../../shared/no-room.js';
import { Problem } from '../../shared/problems.js';
import type { Ran } from './command.js';

export const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** `text` is a script for sh, and `args` are its $1, $2, …. Messages come in English, so that plinth can recognize them. */
export const script = (text: string, ...args: readonly string[]): string =>
  `LC_ALL=C sh -c ${[text, 'plinth', ...args].map(quoted).join(' ')}`;

/** The Problem for a command with an unexpected exit code. `what` reads like `Writing /etc/motd`. */
export function failed(name: string, what: string, path: string, { exitCode, stderr }: Omit<Ran, 'stdout'>): Problem {
  const said = stderr.toString().trim().split('\n').slice(-3).join('; ') || 'it said nothing';
  if (saysNoRoom(said)) {
    return new Problem('host-full', `There is no room left on ${name} for ${path}.`, {
      advice: `Make room on the disk of ${name}, then run the same command again.`,
    });
  }
  return new Problem('host-failed', `${what} on ${name} failed with exit code ${exitCode}: ${said}`);
}
