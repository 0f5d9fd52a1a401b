/** The same work, but nobody waits for it once `signal` aborts: then it rejects with the signal's reason. */
export const until = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    const settled = () => signal.removeEventListener('abort', stop);
    work().then(resolve, reject).finally(settled);
  });
