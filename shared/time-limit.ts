/** Time limits for work, alone or beside other signals. */

/**
 * A time limit that can be combined with other signals. AbortSignal.any holds its sources weakly. Node 20 may then collect a
 * timeout that nothing else holds, and its waiters would wait for ever.
 */
export function timeLimit(milliseconds: number): AbortSignal {
  const signal = AbortSignal.timeout(milliseconds);
  // Node keeps a signal that has a listener until it fires.
  signal.addEventListener('abort', () => undefined, { once: true });
  return signal;
}

/**
 * Aborts the work after a time, or with `stop`. When the work has ended, nothing is left of the limit. That of `timeLimit` stays
 * until its time is over, with all that listens to it, and many calls make many of them.
 */
export async function within<T>(
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<T>,
  stop?: AbortSignal,
): Promise<T> {
  const limit = new AbortController();
  const halt = (): void => limit.abort(stop?.reason);
  const timer = setTimeout(
    () => limit.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
    milliseconds,
  );
  timer.unref();
  if (stop?.aborted === true) halt();
  stop?.addEventListener('abort', halt);
  try {
    return await work(limit.signal);
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener('abort', halt);
  }
}
