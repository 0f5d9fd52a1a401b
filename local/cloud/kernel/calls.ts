/** Every call that reached the simulated cloud: who called what, and how it ended. Bodies, and so secrets, are never kept. */
import type { ApiName } from './api.js';

export interface RecordedCall {
  readonly n: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly milliseconds: number;
  readonly api: ApiName;
  readonly method: string;
  readonly params: Readonly<Record<string, string>>;
  /** What the body calls the thing: its `name`, `projectId` or `accountId`. */
  readonly named?: string;
  /** E-mail; `''` if it was not told. */
  readonly caller: string;
  /** 0 for a connection that was dropped. */
  readonly status: number;
  /** Why it was refused. */
  readonly message?: string;
  /** What the caller said it was for. */
  readonly reason?: string;
  /** Milliseconds since the epoch when all that it began is over; missing if it began nothing that takes time. */
  readonly until?: number;
}

export interface Calls {
  list(filter?: { readonly method?: string; readonly since?: number }): readonly RecordedCall[];
  /** The number of the last call so far: pass it as `since` later. */
  last(): number;
  clear(): void;
}

/** Enough for hundreds of bootstraps; older ones fall off. */
const kept = 200_000;

export function createCalls(): Calls & { record(call: Omit<RecordedCall, 'n'>): void } {
  let calls: RecordedCall[] = [];
  let n = 0;
  return {
    record(call) {
      n += 1;
      calls.push({ n, ...call });
      if (calls.length > kept) calls = calls.slice(kept / 10);
    },
    list: ({ method, since = 0 } = {}) =>
      calls.filter((call) => call.n > since && (method === undefined || call.method === method)),
    last: () => n,
    clear() {
      calls = [];
    },
  };
}
