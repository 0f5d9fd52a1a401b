/**
 * Cloud Scheduler at work: calls what its jobs aim at, when they are due or asked to run, with Google's headers and the
 * token of the job's account. At least once; a job never runs twice at a time unless it is asked to. Made by the simulated cloud.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { timeLimit } from '../../../shared/time-limit.js';
import type { Identity } from '../../identity/identity.js';
import { isBarred } from '../iam/service-accounts.js';
import type { JsonObject } from '../kernel/api.js';
import { numberOf, objectOf, textOf } from '../kernel/json-fields.js';
import type { RunningWorld } from '../kernel/world.js';
import { isServiceUsable, lookUpProject } from '../projects/projects.js';
import { type JobRecord, jobs, plan, secondsOf } from './jobs.js';

export interface ScheduledCallsOptions {
  readonly world: RunningWorld;
  readonly identity: Pick<Identity, 'idToken' | 'accessToken'>;
  /** Share of calls that were answered and are made once more, 0 to 1; default 0. */
  readonly duplicates?: number | undefined;
  /** Hears of every call that was not answered with 2xx. */
  readonly onFailure?: ((job: string, why: string) => void) | undefined;
}

export interface ScheduledCalls {
  /** Resolves when no call is under way. */
  idle(): Promise<void>;
  /** Nothing is called any more; calls under way are broken off. */
  close(): Promise<void>;
}

const longestTimer = 2 ** 31 - 1;
const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);

/** What a status becomes in the job's own. */
const canonical: Readonly<Record<number, number>> = {
  400: 3, 401: 16, 403: 7, 404: 5, 409: 10, 412: 9, 429: 8, 499: 1, 500: 13, 501: 12, 503: 14, 504: 4,
}; // biome-ignore format: a table

interface Failure {
  readonly code: number;
  readonly why: string;
}

export function createScheduledCalls({
  world,
  identity,
  duplicates = 0,
  onFailure,
}: ScheduledCallsOptions): ScheduledCalls {
  const closing = new AbortController();
  const running = new Set<Promise<void>>();
  /** Jobs whose own call is under way, by path. */
  const busy = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  // What was due while nobody was here is not made up for.
  for (const record of Object.values(jobs(world))) {
    if (record.dueAt !== undefined && record.dueAt < world.now()) plan(world, record);
  }
  const stopListening = world.onChange(look);
  look();

  /** Begins what is due, and comes back when the next is. */
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
        // What comes due while the last call is still under way is left out.
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
    const run = attempts(path, record, scheduledAt).finally(() => {
      running.delete(run);
      ended?.();
      if (!closing.signal.aborted) world.changed();
    });
    running.add(run);
  }

  function stands(path: string, record: JobRecord): boolean {
    return !closing.signal.aborted && jobs(world)[path] === record && isAlive(path);
  }

  function isAlive(path: string): boolean {
    const project = lookUpProject(world, path.split('/')[1] ?? '');
    return project?.state === 'ACTIVE' && isServiceUsable(world, project, 'cloudscheduler.googleapis.com');
  }

  async function attempts(path: string, record: JobRecord, scheduledAt: number): Promise<void> {
    const retry = objectOf(record.job['retryConfig']) ?? {};
    const count = numberOf(retry['retryCount']) ?? 0;
    const longest = secondsOf(retry['maxRetryDuration'], 0);
    const begun = world.now();
    for (let attempt = 0; stands(path, record); attempt += 1) {
      record.job['lastAttemptTime'] = new Date(world.now()).toISOString();
      const failure = await call(path, record.job, scheduledAt);
      if (closing.signal.aborted) return;
      record.job['status'] = failure === undefined ? {} : { code: failure.code };
      if (failure === undefined) {
        if (duplicates > 0 && world.random() < duplicates) await call(path, record.job, scheduledAt);
        return;
      }
      onFailure?.(path, failure.why);
      if (attempt >= count) return;
      if (longest > 0 && world.now() - begun > world.scaled(longest)) return;
      const doublings = Math.min(attempt, numberOf(retry['maxDoublings']) ?? 5);
      const seconds = Math.min(
        secondsOf(retry['minBackoffDuration'], 5) * 2 ** doublings,
        secondsOf(retry['maxBackoffDuration'], 3600),
      );
      await sleep(world.scaled(seconds), undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
    }
  }

  /** Undefined once the target has said 2xx. */
  async function call(path: string, job: JsonObject, scheduledAt: number): Promise<Failure | undefined> {
    const target = objectOf(job['httpTarget']) ?? {};
    const uri = textOf(target['uri']) ?? '';
    if (!loopback.has(new URL(uri).hostname)) {
      return { code: 14, why: `${uri} is not on this machine; the simulated cloud calls nothing else` };
    }
    try {
      const headers = await headersOf(path, target, uri, scheduledAt);
      if (headers === undefined) return { code: 16, why: 'its service account is disabled or gone' };
      const body = textOf(target['body']);
      const reply = await fetch(uri, {
        method: textOf(target['httpMethod']) ?? 'POST',
        headers,
        ...(body === undefined ? {} : { body: Buffer.from(body, 'base64') }),
        redirect: 'manual',
        signal: AbortSignal.any([closing.signal, timeLimit(secondsOf(job['attemptDeadline'], 180) * 1000)]),
      });
      const text = await reply.text();
      if (reply.ok) return undefined;
      return { code: canonical[reply.status] ?? 2, why: `${reply.status} ${text.slice(0, 200)}` };
    } catch (error) {
      const { name, message, cause } = error as Error;
      const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
      return { code: name === 'TimeoutError' ? 4 : 14, why };
    }
  }

  /** Undefined: nobody can act as the account any more. */
  async function headersOf(
    path: string,
    target: JsonObject,
    uri: string,
    scheduledAt: number,
  ): Promise<Record<string, string> | undefined> {
    const oidc = objectOf(target['oidcToken']);
    const oauth = objectOf(target['oauthToken']);
    const email = textOf((oidc ?? oauth)?.['serviceAccountEmail']);
    if (email !== undefined && isBarred(world, email)) return undefined;
    const bearer =
      email === undefined
        ? undefined
        : oidc === undefined
          ? identity.accessToken(email)
          : await identity.idToken({ email, audience: textOf(oidc['audience']) ?? uri });
    const own = Object.entries(objectOf(target['headers']) ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      String(value),
    ]);
    return {
      ...(target['body'] === undefined ? {} : { 'content-type': 'application/octet-stream' }),
      'user-agent': 'Google-Cloud-Scheduler',
      ...(Object.fromEntries(own) as Record<string, string>),
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      'x-cloudscheduler': 'true',
      'x-cloudscheduler-jobname': path.slice(path.lastIndexOf('/') + 1),
      'x-cloudscheduler-scheduletime': new Date(scheduledAt).toISOString(),
    };
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
