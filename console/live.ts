/** What stays up to date on the screen: the time, and what is asked for again and again. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Refusal } from './calls.js';

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
  const [turn, setTurn] = useState(0);

  useEffect(() => {
    const gone = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      let next = seconds;
      try {
        const data = await reader.current(gone.signal);
        if (!gone.signal.aborted) setFound({ key, data, refusal: undefined });
      } catch (error) {
        if (gone.signal.aborted) return;
        const refusal = error instanceof Refusal ? error : new Refusal(0, 'Something went wrong on this page.');
        setFound((before) => ({ key, data: before?.key === key ? before.data : undefined, refusal }));
        if (refusal.status === 0 || refusal.status >= 500) next = Math.max(3, seconds ?? 0);
        else if (refusal.status !== 429) next = undefined;
      }
      if (!gone.signal.aborted && next !== undefined) timer = setTimeout(() => void whenSeen(), next * 1000);
    };
    const whenSeen = (): Promise<void> | undefined => {
      if (document.visibilityState === 'visible') return look();
      document.addEventListener('visibilitychange', () => void whenSeen(), { once: true, signal: gone.signal });
      return undefined;
    };
    void look();
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [key, seconds, turn]);

  const again = useCallback(() => setTurn((before) => before + 1), []);
  const mine = found?.key === key ? found : undefined;
  return { data: mine?.data, refusal: mine?.refusal, again };
}
