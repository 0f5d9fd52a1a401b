/**
 * Cloud Scheduler at work: calls the targets of jobs when they are due or asked to run. Calls are made at least once. A job
 * never runs twice at a time unless someone asks for it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Identity } from '../../identity/identity.js';
import type { World } from '../kernel/api.js';
import { numberOf, objectOf, secondsOf, stampOf } from '../kernel/json-fields.js';
import { isServiceUsable, lookUpProject } from '../kernel/projects.js';
import type { RunningWorld } from '../kernel/world.js';
import { callTarget } from './call.js';
import { type JobRecord, jobs, plan } from './jobs.js';

export interface ScheduledCallsOptions {
  readonly world: RunningWorld;
  readonly identity: Pick<Identity, 'idToken' | 'accessToken'>;
  /** Share of answered calls that are made once more, 0 to 1. Default 0. */
  readonly duplicates?: number | undefined;
  /** Called for every call that was not answered with 2xx. */
  readonly onFailure?: ((job: string, why: string) => void) | undefined;
}

export interface ScheduledCalls {
  /** Resolves when no call is under way. */
  idle(): Promise<void>;
  /** Makes no more calls, and aborts those under way. */
  close(): Promise<void>;
}

const longestTimer = 2 ** 31 - 1;
export function createScheduledCalls(options: ScheduledCallsOptions): ScheduledCalls {
  const { world } = options;
  const closing = new AbortController();
  const running = new Set<Promise<void>>();
  /** Jobs whose scheduled call is under way, by path. */
  const busy = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  // Runs that were due while the cloud was down are not made up for.
  for (const record of Object.values(jobs(world))) {
    if (record.dueAt !== undefined && record.dueAt < world.now()) plan(world, record);
  }
  const stopListening = world.onChange(look);
  look();

  /** Begins all due calls, and sets a timer for the next job. */
  function look(): void {
    clearTimeout(timer);
    if (closing.signal.aborted) return;
    const now = world.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [path, record] of Object.entries(jobs(world))) {
      while (record.forced > 0) {
        record.forced -= 1;
        begin(path, record, now);
      }
      if (record.dueAt === undefined) continue;
      if (record.dueAt <= now) {
        const scheduledAt = record.dueAt;
        plan(world, record, now);
        // A run that comes due while the last one is under way is left out.
        if (!busy.has(path)) {
          busy.add(path);
          begin(path, record, scheduledAt, () => busy.delete(path));
        }
      }
      next = Math.min(next, record.dueAt ?? next);
    }
    if (next === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(look, Math.min(longestTimer, Math.max(1, next - now)));
    timer.unref();
  }

  function begin(path: string, record: JobRecord, scheduledAt: number, ended?: () => void): void {
    const run = attempts(options, { path, record, scheduledAt, signal: closing.signal }).finally(() => {
      running.delete(run);
      ended?.();
      if (!closing.signal.aborted) world.changed();
    });
    running.add(run);
  }

  return {
    async idle() {
      while (running.size > 0) await Promise.all([...running]);
    },
    async close() {
      closing.abort();
      clearTimeout(timer);
      stopListening();
      await Promise.all([...running]);
    },
  };
}

interface Run {
  /** Path of the job. */
  readonly path: string;
  readonly record: JobRecord;
  readonly scheduledAt: number;
  readonly signal: AbortSignal;
}

function stands(world: World, { path, record, signal }: Run): boolean {
  if (signal.aborted || jobs(world)[path] !== record) return false;
  const project = lookUpProject(world, path.split('/')[1] ?? '');
  return project?.state === 'ACTIVE' && isServiceUsable(world, project, 'cloudscheduler.googleapis.com');
}

/** Calls until the target answers 2xx, or as often as the job allows. */
async function attempts(options: ScheduledCallsOptions, run: Run): Promise<void> {
  const { world, duplicates = 0, onFailure } = options;
  const { path, record, scheduledAt, signal } = run;
  const retry = objectOf(record.job['retryConfig']) ?? {};
  const count = numberOf(retry['retryCount']) ?? 0;
  const longest = secondsOf(retry['maxRetryDuration']);
  const begun = world.now();
  const call = () => callTarget(options, { path, job: record.job, scheduledAt, signal });
  for (let attempt = 0; stands(world, run); attempt += 1) {
    record.job['lastAttemptTime'] = stampOf(world);
    const failure = await call();
    if (signal.aborted) return;
    record.job['status'] = failure === undefined ? {} : { code: failure.code };
    if (failure === undefined) {
      if (duplicates > 0 && world.random() < duplicates) await call();
      return;
    }
    onFailure?.(path, failure.why);
    if (attempt >= count) return;
    if (longest > 0 && world.now() - begun > world.scaled(longest)) return;
    const doublings = Math.min(attempt, numberOf(retry['maxDoublings']) ?? 5);
    const seconds = Math.min(
      secondsOf(retry['minBackoffDuration']) * 2 ** doublings,
      secondsOf(retry['maxBackoffDuration']),
    );
    await sleep(world.scaled(seconds), undefined, { signal, ref: false }).catch(() => undefined);
  }
}
