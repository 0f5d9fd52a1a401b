/**
 * Runs jobs: commands that outlive the function that started them. They start once, and can be followed, claimed and killed.
 */
import { Problem } from '../../shared/problems.js';
import { sha256 } from '../../shared/sha256.js';
import type { Ran } from './command.js';
import { exits, jobScript } from './job-script.js';
import type { ExecOptions, Job, JobState } from './remote.js';
import { failed, quoted } from './shell.js';
import { type Target, upload } from './upload.js';

const toolSha256 = sha256(jobScript);
/** The name has the script's hash. Another release uploads another script, and older jobs continue with theirs. */
const tool = `.plinth/job-${toolSha256.slice(0, 16)}`;
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,120}$/;
const defaultMaxBytes = 128 * 1024;

export function createJob(target: Target, id: string): Job {
  if (!idPattern.test(id)) throw new TypeError(`${id} is no id of a job`);
  const { name } = target;

  /** Uploads the script only if it is missing. Most often it is there. */
  async function ask(verb: string, args: readonly (string | number)[], options: ExecOptions = {}): Promise<Ran> {
    const words = [verb, id, ...args].map((word) => quoted(String(word))).join(' ');
    const command = `t="$HOME/"${quoted(tool)}; [ -f "$t" ] || exit ${exits.noTool}; exec /bin/bash "$t" ${words}`;
    const ran = await target.run(command, options);
    if (ran.exitCode !== exits.noTool) return ran;
    const home = await target.run('printf %s "$HOME"', { signal: options.signal });
    await upload(target, `${home.stdout.toString()}/${tool}`, jobScript, {
      mode: 0o700,
      sha256: toolSha256,
      signal: options.signal,
    });
    return target.run(command, options);
  }

  return {
    id,
    async start(script) {
      const ran = await ask('start', [sha256(script)], { stdin: script });
      if (ran.exitCode === 0) return;
      const what = `Starting the job ${id}`;
      if (ran.exitCode === exits.conflict) {
        throw new Problem('conflict', `Another script runs, or ran, on ${name} as the job ${id}.`);
      }
      if (ran.exitCode === exits.damaged) {
        throw new Problem('host-unreachable', `${what} on ${name}: what arrived is not what was sent.`);
      }
      if (ran.exitCode === exits.notBegun && ran.stderr.length === 0) {
        throw new Problem('host-unreachable', `${what} on ${name}: it has not begun yet.`);
      }
      throw failed(name, what, 'jobs', ran);
    },
    async poll(offset, { maxBytes = defaultMaxBytes, waitSeconds = 0, signal } = {}) {
      const ran = await ask('poll', [offset, maxBytes, waitSeconds], { timeoutSeconds: waitSeconds + 60, signal });
      const end = ran.stdout.indexOf(0x0a);
      const [, state, code, size] =
        /^(running|exited|lost|unknown) (-|\d+) (\d+)$/.exec(ran.stdout.subarray(0, Math.max(end, 0)).toString()) ?? [];
      if (ran.exitCode !== 0 || state === undefined) throw failed(name, `Looking at the job ${id}`, 'jobs', ran);
      return {
        state: state as JobState,
        ...(state === 'exited' ? { exitCode: Number(code) } : {}),
        size: Number(size),
        bytes: ran.stdout.subarray(end + 1),
      };
    },
    async claim(token) {
      const ran = await ask('claim', [token]);
      if (ran.exitCode !== 0) throw failed(name, `Claiming the job ${id}`, 'jobs', ran);
      return ran.stdout.toString().trim();
    },
    async kill() {
      const ran = await ask('kill', []);
      if (ran.exitCode !== 0) throw failed(name, `Killing the job ${id}`, 'jobs', ran);
    },
  };
}
