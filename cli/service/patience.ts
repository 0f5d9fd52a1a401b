/** Decides when a call is retried, and after how long. */
import { Problem } from '../../shared/problems.js';
import { isLasting } from './answer-problem.js';

/** A try lost in flight holds its idempotency key for half a minute. Meanwhile the service asks for a retry each second. */
const tries = { others: 4, whileUnderWay: 40 } as const;
const awayMs = 30_000;
/** Who is asked to wait for longer has other things to do. */
const longestWaitSeconds = 60;
const backoffMs = { first: 500, most: 15_000, mostWhileAway: 3_000 } as const;

export interface Patience {
  /** For `--verbose`: announces a retry. */
  readonly onTrace: (text: string) => void;
  /** The service is away, and the call waits for it. */
  readonly onTrouble: (text: string) => void;
  /** Ctrl-C ends the wait. */
  readonly interrupted: AbortSignal;
}

/** Makes a call, and retries it a few times while the service is away or asks for a retry. `passes`: whether a retry may help. */
export async function patiently<T>(
  call: () => Promise<T>,
  { onTrace, onTrouble, interrupted }: Patience,
  passes: (problem: Problem) => boolean = isPassing,
): Promise<T> {
  let awaySince: number | undefined;
  for (let failures = 0; ; failures += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Problem) || !passes(error)) throw error;
      if (error.code === 'unavailable') {
        if (awaySince === undefined) onTrouble(`${error.detail} It is tried for half a minute.`);
        awaySince ??= Date.now();
        if (Date.now() - awaySince > awayMs) throw error;
      } else if (failures >= (error.code === 'conflict' ? tries.whileUnderWay : tries.others)) throw error;
      const most = error.code === 'unavailable' ? backoffMs.mostWhileAway : backoffMs.most;
      const waitMs =
        Math.min((error.retryAfterSeconds ?? 0) * 1000, backoffMs.most) || Math.min(backoff(failures), most);
      onTrace(`again in ${Math.round(waitMs)} ms: ${error.detail}`);
      await pause(waitMs, interrupted);
    }
  }
}

export const isPassing = (problem: Problem): boolean =>
  !isLasting(problem) &&
  (problem.retryAfterSeconds ?? 0) <= longestWaitSeconds &&
  (['unavailable', 'internal', 'too-many'].includes(problem.code) ||
    problem.kind.retry !== 'none' ||
    // The first try is still under way.
    (problem.code === 'conflict' && problem.retryAfterSeconds !== undefined));

export const backoff = (failures: number): number =>
  Math.min(backoffMs.first * 2 ** failures, backoffMs.most) * (0.5 + Math.random() / 2);

export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
