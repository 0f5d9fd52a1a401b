/**
 * One signal of several that stays until it is released: AbortSignal.any of Node 20 may be lost to the garbage collector while
 * it is waited for.
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
