/**
 * Joins several signals into one that lives until it is released. On Node 20, the garbage collector may take the result of
 * AbortSignal.any while something waits for it.
 */
export function joinedSignal(...signals: readonly AbortSignal[]): {
  readonly signal: AbortSignal;
  release(): void;
} {
  const joined = new AbortController();
  const release = (): void => {
    for (const signal of signals) signal.removeEventListener('abort', abort);
  };
  const abort = (): void => {
    joined.abort(signals.find(({ aborted }) => aborted)?.reason);
    release();
  };
  for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
  if (signals.some(({ aborted }) => aborted)) abort();
  return { signal: joined.signal, release };
}
