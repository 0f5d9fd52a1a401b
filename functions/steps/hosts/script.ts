/** Bash with arguments on a machine. Used by the steps on machines. */
import { Problem } from '../../../shared/problems.js';
import type { ExecOptions, Executed, Host } from '../../remote/remote.js';

/** `args` are $1, $2, … of the script; neither they nor the script may hold a secret, which goes through `stdin`. */
export const runScript = (
  host: Host,
  script: string,
  args: readonly string[] = [],
  options?: ExecOptions,
): Promise<Executed> => host.exec(`bash -c ${[script, 'plinth', ...args].map(quoted).join(' ')}`, options);

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** What it printed. Another exit code than 0 is a Problem with the last that it said; `what` begins that sentence. */
export async function mustRun(
  host: Host,
  what: string,
  script: string,
  args: readonly string[] = [],
  options?: ExecOptions,
): Promise<string> {
  const { exitCode, stdout, stderr } = await runScript(host, script, args, options);
  if (exitCode === 0) return stdout;
  const said = stderr.trim().split('\n').slice(-3).join('; ') || 'it said nothing';
  throw new Problem('host-failed', `${what} failed on ${host.name} with exit code ${exitCode}: ${said}`, {
    advice: `Look at the machine (plinth beta bootstrap-cloud ssh <project> ${host.name}), heal it, then run the same command again.`,
  });
}
