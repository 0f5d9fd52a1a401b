/** Cloud Scheduler in small: calls one URL again and again, with Scheduler's headers and token. Started by the local stack. */
import { setTimeout as sleep } from 'node:timers/promises';

interface ScheduledJob {
  /** `projects/p/locations/l/jobs/<name>` */
  readonly name: string;
  /** Asked anew each time: the functions may have moved. Undefined: nobody is there yet. */
  readonly url: () => string | undefined;
  readonly everySeconds: number;
  /** The identity it calls with. */
  readonly serviceAccount: string;
}

export interface SchedulerOptions {
  readonly identity: { idToken(claims: { email: string; audience: string }): string | Promise<string> };
  readonly timeFactor: number;
  readonly jobs: readonly ScheduledJob[];
  /** Hears of every call that was not answered with 2xx. */
  readonly onFailure?: (job: string, why: string) => void;
}

export interface Scheduler {
  /** Calls every job once, now. */
  tick(): Promise<void>;
  close(): Promise<void>;
}

/** However fast the cloud is, an idle machine shall be idle. */
const shortestMs = 250;
const attemptDeadlineMs = 180_000;

export function startScheduler({ identity, timeFactor, jobs, onFailure }: SchedulerOptions): Scheduler {
  const closing = new AbortController();

  async function call({ name, url: urlOf, serviceAccount }: ScheduledJob): Promise<void> {
    const url = urlOf();
    if (url === undefined) return;
    try {
      const token = await identity.idToken({ email: serviceAccount, audience: url });
      const reply = await fetch(url, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'user-agent': 'Google-Cloud-Scheduler',
          'x-cloudscheduler': 'true',
          'x-cloudscheduler-jobname': name.slice(name.lastIndexOf('/') + 1),
          'x-cloudscheduler-scheduletime': new Date().toISOString(),
        },
        signal: AbortSignal.any([closing.signal, AbortSignal.timeout(attemptDeadlineMs)]),
      });
      const text = await reply.text();
      if (!reply.ok) onFailure?.(name, `${reply.status} ${text.slice(0, 200)}`);
    } catch (error) {
      if (!closing.signal.aborted) onFailure?.(name, (error as Error).message);
    }
  }

  async function run(job: ScheduledJob): Promise<void> {
    while (!closing.signal.aborted) {
      const ms = Math.max(shortestMs, job.everySeconds * 1000 * timeFactor);
      await sleep(ms, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
      if (!closing.signal.aborted) await call(job);
    }
  }

  const running = jobs.map(run);
  return {
    tick: async () => {
      await Promise.all(jobs.map(call));
    },
    async close() {
      closing.abort();
      await Promise.all(running);
    },
  };
}
