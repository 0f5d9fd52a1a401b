/** What stays up to date on the screen: the time, and what is asked for again and again. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { lasts, Refusal } from './calls.js';

/** Milliseconds since 1970, once a second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

export interface Live<T> {
  /** The last that was read. It stays while a later reading fails. */
  readonly data: T | undefined;
  readonly refusal: Refusal | undefined;
  /** A reading under way goes on, and one more follows it: events faster than readings must not starve the page. */
  again(): void;
}

/**
 * Reads now, and again after `seconds` while the page is seen. A failure is tried again, too. `key` says what is read: with
 * another one all begins anew. Undefined seconds: once.
 */
export function useLive<T>(key: string, read: (signal: AbortSignal) => Promise<T>, seconds?: number): Live<T> {
  const [found, setFound] = useState<{ key: string; data: T | undefined; refusal: Refusal | undefined }>();
  const reader = useRef(read);
  reader.current = read;
  const lookNow = useRef<() => void>(() => undefined);

  useEffect(() => {
    const gone = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let looking = false;
    let missed = false;
    const read = async (): Promise<number | undefined> => {
      try {
        const data = await reader.current(gone.signal);
        if (!gone.signal.aborted) setFound({ key, data, refusal: undefined });
        return seconds;
      } catch (error) {
        if (gone.signal.aborted) return undefined;
        const refusal = error instanceof Refusal ? error : new Refusal(0, 'Something went wrong on this page.');
        setFound((before) => ({ key, data: before?.key === key ? before.data : undefined, refusal }));
        return lasts(refusal) ? undefined : Math.max(3, seconds ?? 0);
      }
    };
    const look = async (): Promise<void> => {
      clearTimeout(timer);
      missed = looking;
      if (looking) return;
      looking = true;
      let next = await read();
      while (missed && !gone.signal.aborted) {
        missed = false;
        next = await read();
      }
      looking = false;
      if (!gone.signal.aborted && next !== undefined) timer = setTimeout(whenSeen, next * 1000);
    };
    const whenSeen = (): void => {
      if (document.visibilityState === 'visible') void look();
      else document.addEventListener('visibilitychange', whenSeen, { once: true, signal: gone.signal });
    };
    lookNow.current = () => void look();
    void look();
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [key, seconds]);

  const again = useCallback(() => lookNow.current(), []);
  const mine = found?.key === key ? found : undefined;
  return { data: mine?.data, refusal: mine?.refusal, again };
}
