/** Runs a long command on a machine as a job. It starts once. Later runs of the step follow it and show its log. */

import { Problem } from '../../../shared/problems.js';
import { sha256 } from '../../../shared/sha256.js';
import { again, done, type Outcome, type StepCall, thisProject } from '../../engine/step.js';
import type { Host, Job, JobLook } from '../../remote/remote.js';
import { failedOn } from './script.js';

type Call = Pick<StepCall, 'context' | 'bootstrap' | 'log' | 'secrets' | 'signal'>;

/** A machine that restarts again and again never finishes a job. */
const mostLost = 10;
/** After this the engine gets its turn. A cancellation may wait this long. */
const turnSeconds = 15;
/** Far longer than the install of a whole platform. The job continues even if nobody follows it any more. */
const patienceSeconds = 7200;
const tailBytes = 4096;

export interface FollowedJob {
  /** The step's own, `[a-z0-9-]+`. */
  readonly name: string;
  readonly script: string;
  /** Begins messages, such as `Copying the images`. */
  readonly what: string;
  /** Whether the wanted result is there. */
  readonly isThere: () => Promise<boolean>;
  /** Provides what the job needs and removes at its end, such as a login. Called before each new job. */
  readonly before?: () => Promise<void>;
  /** The script ends with it where what `before` provided is gone, as after a restart in between. Then it begins again. */
  readonly exitCodeWithoutIt?: number;
  /** Removes what a job left that failed. Never called while one runs, because a lost connection says nothing of its job. */
  readonly afterFailure?: () => Promise<void>;
}

/**
 * A running job is followed no matter who started it, and its result counts. A job that was lost with its machine starts again.
 * So does one that had ended before this generation first looked, unless it brought the wanted result: it may have ended after
 * `observe`. Throws with the job's last lines.
 */
export async function followJob(
  call: Call,
  host: Host,
  { name, script, what, isThere, before, exitCodeWithoutIt, afterFailure }: FollowedJob,
): Promise<Outcome> {
  const mine = `generation ${call.bootstrap.generation}`;
  // Loads the caller's secrets, so that the log can redact them.
  await call.secrets.caller();
  for (let run = 1, lost = 0; ; run++) {
    const job = host.job(idOf(name, script, run));
    if (before !== undefined && (await job.poll(0, { maxBytes: 1 })).state === 'unknown') await before();
    await job.start(script);
    const isMine = (await job.claim(mine)) === mine;
    const { look, last, isWhole } = await read(call, job);
    if (look.state === 'running') return again(0, last === '' ? `${what} is under way` : last, patienceSeconds);
    // Another follower stores it too.
    if (!isWhole) return again(1, `${what} has ended; the rest of its log is read`, patienceSeconds);
    if (look.state !== 'exited' || look.exitCode === exitCodeWithoutIt) {
      // Whatever is left of it must not run beside the next job.
      await job.kill();
      if (isMine) lost++;
      if (lost < mostLost) continue;
      throw new Problem('host-failed', `${what} was begun ${mostLost} times on ${host.name}, and came to no end.`, {
        advice: `Find out what ends it there: the machine is started anew, or runs out of memory. Then run the same command again.`,
      });
    }
    if (look.exitCode === 0 && (isMine || (await isThere()))) return done;
    if (!isMine) continue;
    const words = (await lastWords(call, job, look)) || 'it said nothing';
    await afterFailure?.();
    const advice = `Its log: plinth beta bootstrap-cloud logs ${thisProject}. Heal the cause, then run the same command again.`;
    throw failedOn(host, what, look.exitCode ?? 0, words, advice);
  }
}

/** Stores the rest of a job's log when `observe` finds the job's result. Its follower may have died before the end. */
export async function keepLog(call: Call, host: Host, name: string, script: string): Promise<void> {
  await call.secrets.caller();
  for (let run = 1; ; run++) {
    const { look } = await read(call, host.job(idOf(name, script, run)));
    if (look.state === 'unknown' || look.exitCode === 0) return;
  }
}

/** Another script is another job. */
const idOf = (name: string, script: string, run: number): string => `${name}-${sha256(script).slice(0, 12)}-${run}`;

interface Read {
  readonly look: JobLook;
  /** The last line of the new output. */
  readonly last: string;
  /** True if the job has ended and all of its log is stored. */
  readonly isWhole: boolean;
}

/** Reads to the end of the log, or for one turn. */
async function read({ context: { clock }, log, signal }: Call, job: Job): Promise<Read> {
  const now = (): number => clock.now().getTime();
  const until = now() + turnSeconds * 1000;
  let last = '';
  for (let offset = await log.offset(job.id); ; ) {
    const waitSeconds = Math.max(0, Math.ceil((until - now()) / 1000));
    const look = await job.poll(offset, { waitSeconds, signal });
    const ended = look.state !== 'running';
    const toEnd = ended && offset + look.bytes.length >= look.size;
    const next = await log.append(job.id, offset, look.bytes, toEnd);
    last = inShort(log.lastLine(look.bytes, toEnd)) || last;
    const isWhole = ended && next >= look.size;
    if (isWhole || now() >= until || (ended && next === offset)) return { look, last, isWhole };
    offset = next;
  }
}

/** The error is often a few lines before the end. */
const lastWordLines = 4;
const longestWords = 1000;

/** The last lines of a job that has ended. Read from the machine, because another follower may have stored its log. */
async function lastWords({ log, signal }: Call, job: Job, { size }: JobLook): Promise<string> {
  const { bytes } = await job.poll(Math.max(0, size - tailBytes), { signal });
  // A line that is cut at its beginning may start inside a secret.
  const whole = size > tailBytes ? bytes.subarray(bytes.indexOf(0x0a) + 1) : bytes;
  return inShort(log.lastLines(whole, lastWordLines), longestWords);
}

const inShort = (text: string, most = 200): string => (text.length > most ? `${text.slice(0, most)}…` : text);
