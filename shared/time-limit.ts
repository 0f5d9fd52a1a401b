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
