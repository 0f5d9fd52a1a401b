/** Bounds work on a connection, so that it can't outlast the connection. */
import { Problem } from '../../shared/problems.js';

export interface Bounds {
  /** The machine's name, for people. */
  readonly name: string;
  /** Aborted, with a Problem, once the connection is gone. */
  readonly gone: AbortSignal;
  lost(why: string): Problem;
}

/**
 * Settles with `work`. Rejects when the connection is lost, the signal aborts, or the time is over, whichever comes first.
 */
export function within<T>(
  { name, gone, lost }: Bounds,
  what: string,
  { seconds, signal }: { readonly seconds: number; readonly signal?: AbortSignal | undefined },
  work: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const ends = signal === undefined ? [gone] : [gone, signal];
    let stop = (): void => undefined;
    const settle = (): void => {
      clearTimeout(timer);
      for (const each of ends) each.removeEventListener('abort', aborted);
    };
    const fail = (error: unknown): void => {
      settle();
      stop();
      reject(error);
    };
    const aborted = (): void => fail(ends.find((each) => each.aborted)?.reason);
    const timer = setTimeout(
      () => fail(new Problem('host-unreachable', `${name} did not ${what} within ${seconds} seconds.`)),
      seconds * 1000,
    );
    if (ends.some((each) => each.aborted)) return aborted();
    for (const each of ends) each.addEventListener('abort', aborted, { once: true });
    try {
      stop = work((value) => {
        settle();
        resolve(value);
      }, fail);
    } catch (error) {
      fail(lost(error instanceof Error ? error.message : String(error)));
    }
  });
}
