/** A long command on a machine as a job: started once, followed by whoever asks next, its log shown. */
import { Problem } from '../../../shared/problems.js';
import { sha256 } from '../../../shared/sha256.js';
import { again, done, type Outcome, type StepCall } from '../../engine/step.js';
import type { Host, Job, JobLook } from '../../remote/remote.js';
import { failedOn } from './script.js';

type Call = Pick<StepCall, 'bootstrap' | 'log' | 'secrets' | 'signal'>;

/** A machine that is started anew again and again ends no job. */
const mostLost = 10;
/** Then the engine has its turn: who cancels waits so long. */
const turnSeconds = 15;
/** An install of a whole platform is through long before. It goes on when nobody follows it any more. */
const patienceSeconds = 7200;
const tailBytes = 4096;

/**
 * `name` is the step's own, `[a-z0-9-]+`. What runs already is followed, whoever began it, and its end is ours. A job that was
 * lost with its machine is begun anew; one that had ended when this generation first looked is so, too: it did not bring what
 * is wanted. `before` brings what a job needs and takes away itself, such as a login; it is called for each that is yet to begin.
 * Throws with the last that it said.
 */
export async function followJob(
  call: Call,
  host: Host,
  name: string,
  script: string,
  what: string,
  before?: () => Promise<void>,
): Promise<Outcome> {
  const mine = `generation ${call.bootstrap.generation}`;
  // So that the log is free of what the caller gave, whoever says it.
  await call.secrets.caller();
  for (let run = 1, lost = 0; ; run++) {
    const job = host.job(idOf(name, script, run));
    if (before !== undefined && (await job.poll(0, { maxBytes: 1 })).state === 'unknown') await before();
    await job.start(script);
    const isMine = (await job.claim(mine)) === mine;
    const { look, last, isWhole } = await read(call, job);
    if (look.state === 'running') return again(0, last === '' ? `${what} is under way` : last, patienceSeconds);
    // Somebody else stores it, too.
    if (!isWhole) return again(1, `${what} has ended; the rest of its log is read`, patienceSeconds);
    if (look.state !== 'exited') {
      // What of it is still there must not run beside the next one.
      await job.kill();
      if (isMine) lost++;
      if (lost < mostLost) continue;
      throw new Problem('host-failed', `${what} was begun ${mostLost} times on ${host.name}, and came to no end.`, {
        advice: `Find out what ends it there: the machine is started anew, or runs out of memory. Then run the same command again.`,
      });
    }
    if (!isMine) continue;
    if (look.exitCode === 0) return done;
    const words = (await lastWords(call, job, look)) || 'it said nothing';
    const advice =
      'Its log: plinth beta bootstrap-cloud logs <project>. Heal the cause, then run the same command again.';
    throw failedOn(host, what, look.exitCode ?? 0, words, advice);
  }
}

/**
 * The rest of its log, for an `observe` that sees that what the job was to bring is there: whoever followed it may have been
 * killed before its end.
 */
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
  /** The last line that was said meanwhile. */
  readonly last: string;
  /** Of a job that has ended: all of its log is stored. */
  readonly isWhole: boolean;
}

/** Up to the end of the log, or for one turn. */
async function read({ log, signal }: Call, job: Job): Promise<Read> {
  const until = Date.now() + turnSeconds * 1000;
  let last = '';
  for (let offset = await log.offset(job.id); ; ) {
    const waitSeconds = Math.max(0, Math.ceil((until - Date.now()) / 1000));
    const look = await job.poll(offset, { waitSeconds, signal });
    const ended = look.state !== 'running';
    const toEnd = ended && offset + look.bytes.length >= look.size;
    const next = await log.append(job.id, offset, look.bytes, toEnd);
    last = inShort(log.lastLine(look.bytes, toEnd)) || last;
    const isWhole = ended && next >= look.size;
    if (isWhole || Date.now() >= until || (ended && next === offset)) return { look, last, isWhole };
    offset = next;
  }
}

/** What is wrong often stands a little before the end. */
const lastWordLines = 4;
const longestWords = 1000;

/** Of a job that has ended; its log may have been stored by somebody else. */
async function lastWords({ log, signal }: Call, job: Job, { size }: JobLook): Promise<string> {
  const { bytes } = await job.poll(Math.max(0, size - tailBytes), { signal });
  // A line that is cut at its beginning may begin in the midst of a secret.
  const whole = size > tailBytes ? bytes.subarray(bytes.indexOf(0x0a) + 1) : bytes;
  return inShort(log.lastLines(whole, lastWordLines), longestWords);
}

const inShort = (text: string, most = 200): string => (text.length > most ? `${text.slice(0, most)}…` : text);
