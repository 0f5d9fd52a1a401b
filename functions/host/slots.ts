/** Limits how many run at once and queues the others: sessions of a connection, keys of a process. */

export interface Slots {
  /** Waits for a slot and holds it while `work` runs. Rejects with the signal's reason if it aborts during the wait. */
  use<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export function createSlots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];
  const take = (signal: AbortSignal | undefined): Promise<void> | void => {
    signal?.throwIfAborted();
    if (free > 0) {
      free--;
      return;
    }
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        waiting.splice(waiting.indexOf(go), 1);
        reject(signal?.reason);
      };
      waiting.push(go);
      signal?.addEventListener('abort', leave, { once: true });
    });
  };
  return {
    async use(work, signal) {
      await take(signal);
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) free++;
        else next();
      }
    },
  };
}
