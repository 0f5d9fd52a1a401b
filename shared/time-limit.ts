/**
 * A time limit that may be joined with other signals: AbortSignal.any holds its sources weakly, and Node 20 then lets the
 * garbage collector take a timeout that nothing else holds, so that what waits for it waits for ever.
 */
export function timeLimit(milliseconds: number): AbortSignal {
  const signal = AbortSignal.timeout(milliseconds);
  // Who is listened to is kept until it has told.
  signal.addEventListener('abort', () => undefined, { once: true });
  return signal;
}
