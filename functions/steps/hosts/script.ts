/** Runs Bash scripts with arguments on a machine. */

import { saysNoRoom } from '../../../shared/no-room.js';
import { Problem } from '../../../shared/problems.js';
import { thisProject } from '../../engine/step.js';
import type { ExecOptions, Executed, Host } from '../../remote/remote.js';

/** `args` are $1, $2, … of the script. Neither they nor the script may hold a secret. Secrets go through `stdin`. */
export const runScript = (
  host: Host,
  script: string,
  args: readonly string[] = [],
  options?: ExecOptions,
): Promise<Executed> => host.exec(`bash -c ${[script, 'plinth', ...args].map(quoted).join(' ')}`, options);

/** Quotes a word for a shell. */
export const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Returns what the script printed. Another exit code than 0 is a Problem with its last lines. `what` begins the message. */
export async function mustRun(
  host: Host,
  what: string,
  script: string,
  args: readonly string[] = [],
  options?: ExecOptions,
): Promise<string> {
  return mustHaveEnded(host, what, await runScript(host, script, args, options));
}

/** Like `mustRun`, for a script that has already run. */
export function mustHaveEnded(host: Host, what: string, { exitCode, stdout, stderr }: Executed): string {
  if (exitCode === 0) return stdout;
  const said = stderr.trim().split('\n').slice(-3).join('; ') || 'it said nothing';
  const advice = `Look at the machine (plinth beta bootstrap-cloud ssh ${thisProject} ${host.name}), heal it, then run the same command again.`;
  throw failedOn(host, what, exitCode, said, advice);
}

/** The Problem for a failed command. It recognizes a full disk. */
export function failedOn({ name }: Host, what: string, exitCode: number, said: string, advice: string): Problem {
  if (!saysNoRoom(said)) {
    return new Problem('host-failed', `${what} failed on ${name} with exit code ${exitCode}: ${said}`, { advice });
  }
  return new Problem('host-full', `${what} failed, as there is no room left on ${name}: ${said}`, {
    advice: `Make room on its disk (plinth beta bootstrap-cloud ssh ${thisProject} ${name}), then run the same command again.`,
  });
}

/** With this, curl says that it cannot read the file of `--config`. */
export const noConfig = 26;

/**
 * For scripts that fetch: `curl … || fetch_failed $? FILE`. On a full disk, curl reports only that it could not write. A
 * further write beside the file fails with the reason.
 */
export const fetchFailed = `fetch_failed() {
  [ "$1" != 23 ] || head -c 1000000 /dev/zero > "$2.room" || :
  rm -f "$2.room"
  return "$1"
}`;
