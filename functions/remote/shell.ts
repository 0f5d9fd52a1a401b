/** Words and answers of the shells that commands run in on machines. */
import { saysNoRoom } from '../../shared/no-room.js';
import { Problem } from '../../shared/problems.js';
import type { Ran } from './command.js';

export const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** `script` is for sh; `args` are its $1, $2, …. Messages come in English, to be understood here. */
export const script = (text: string, ...args: readonly string[]): string =>
  `LC_ALL=C sh -c ${[text, 'plinth', ...args].map(quoted).join(' ')}`;

/** Of a command that ended with a code that was not expected. `what` as in `Writing /etc/motd`. */
export function failed(name: string, what: string, path: string, { exitCode, stderr }: Omit<Ran, 'stdout'>): Problem {
  const said = stderr.toString().trim().split('\n').slice(-3).join('; ') || 'it said nothing';
  if (saysNoRoom(said)) {
    return new Problem('host-full', `There is no room left on ${name} for ${path}.`, {
      advice: `Make room on the disk of ${name}, then run the same command again.`,
    });
  }
  return new Problem('host-failed', `${what} on ${name} failed with exit code ${exitCode}: ${said}`);
}
