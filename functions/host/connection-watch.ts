/**
 * Ends a process whose kept connections to an origin no longer work, so that the platform starts another. It has been seen: all
 * calls of one process to one origin timed out, it opened no connection, and other programs got answers.
 */
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { timeLimit } from '../../shared/time-limit.js';
import type { Log } from './log.js';

/** Who keeps the connections: Node's `fetch`, or gaxios, which Google's clients use. Each has a pool of its own. */
type Pool = 'fetch' | 'gaxios';

export interface ConnectionWatch {
  /** One call to an origin. It does not change what the call gives or throws. */
  observe<T>(pool: Pool, origin: string, call: () => Promise<T>): Promise<T>;
}

/** One lost call happens, and two. Each takes a minute, so a third one in a row is rare. */
const mostTimeouts = 3;

interface WatchSettings {
  readonly log: Log;
  /** A fault that a new process does not cure must not start one after another. */
  readonly youngSeconds?: number;
  /** How long both looks wait. */
  readonly answerSeconds?: number;
}

/** Any status is an answer: the front of Google's APIs answers everybody. */
const looks: Readonly<Record<Pool, (origin: string, signal: AbortSignal) => Promise<unknown>>> = {
  fetch: (origin, signal) => fetch(origin, { method: 'HEAD', redirect: 'manual', signal }),
  gaxios: async (origin, signal) => {
    const { PassThroughClient } = await import('google-auth-library');
    const client = new PassThroughClient();
    return client.request({ url: origin, method: 'HEAD', signal, retry: false, validateStatus: () => true });
  },
};

/** By a connection of its own. */
const answersAfresh = (origin: string, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const request = origin.startsWith('https:') ? requestHttps : requestHttp;
    const asking = request(origin, { method: 'HEAD', agent: false, signal }, (reply) => {
      reply.resume();
      resolve(true);
    });
    asking.on('error', () => resolve(false)).end();
  });

/** An error that came, such as a reset, is a sign of life of the pool. */
const answersFromPool = (pool: Pool, origin: string, signal: AbortSignal): Promise<boolean> =>
  Promise.race([
    looks[pool](origin, signal).then(
      () => true,
      () => !signal.aborted,
    ),
    // A dead pool may not even heed the signal.
    new Promise<boolean>((resolve) => signal.addEventListener('abort', () => setImmediate(resolve, false))),
  ]);

/** As `fetch`, gaxios and google-gax tell of a call that got no answer in time. */
function isTimeout(error: unknown): boolean {
  const { name, code, httpStatusCode } = error as { name?: unknown; code?: unknown; httpStatusCode?: unknown };
  const deadlineExceeded = 4;
  return (
    name === 'TimeoutError' || code === 'TimeoutError' || (code === deadlineExceeded && httpStatusCode === undefined)
  );
}

export function createConnectionWatch({ log, youngSeconds = 900, answerSeconds = 10 }: WatchSettings): ConnectionWatch {
  const timeouts = new Map<string, number>();
  let looking = false;

  async function look(pool: Pool, origin: string): Promise<void> {
    const signal = timeLimit(answerSeconds * 1000);
    const [afresh, pooled] = await Promise.all([answersAfresh(origin, signal), answersFromPool(pool, origin, signal)]);
    if (pooled) return;
    if (!afresh) {
      log('WARNING', `${origin} answers neither by way of ${pool} nor on a fresh connection`);
      return;
    }
    log(
      'ERROR',
      `The connections to ${origin} are dead: ${pool} gets no answer, and a fresh connection does. The instance ends`,
    );
    // As Cloud Run does it, so all that is under way is finished or rescheduled.
    process.kill(process.pid, 'SIGTERM');
  }

  return {
    async observe(pool, origin, call) {
      const key = `${pool} ${origin}`;
      try {
        const answer = await call();
        timeouts.delete(key);
        return answer;
      } catch (error) {
        const inARow = isTimeout(error) ? (timeouts.get(key) ?? 0) + 1 : 0;
        timeouts.set(key, inARow);
        if (inARow >= mostTimeouts && !looking && process.uptime() >= youngSeconds) {
          looking = true;
          timeouts.delete(key);
          void look(pool, origin).finally(() => {
            looking = false;
          });
        }
        throw error;
      }
    },
  };
}

/** For a process that others started, and that others end. */
export const noWatch: ConnectionWatch = { observe: (_pool, _origin, call) => call() };
