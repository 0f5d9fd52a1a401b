/**
 * Records every call that reached the simulated cloud: the caller, the method and the outcome. It never keeps bodies, because
 * they hold secrets.
 */
import type { ApiName } from './api.js';

export interface RecordedCall {
  readonly n: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly milliseconds: number;
  readonly api: ApiName;
  readonly method: string;
  readonly params: Readonly<Record<string, string>>;
  /** The name in the body: its `name`, `projectId` or `accountId`. */
  readonly named?: string;
  /** E-mail; `''` if unknown. */
  readonly caller: string;
  /** 0 if the connection was dropped. */
  readonly status: number;
  /** The reason of a refusal. */
  readonly message?: string;
  /** The reason the caller gave for the call. */
  readonly reason?: string;
  /** When everything the call began is over, in milliseconds since the epoch. Missing if it began nothing that takes time. */
  readonly until?: number;
}

export interface Calls {
  list(filter?: { readonly method?: string; readonly since?: number }): readonly RecordedCall[];
  /** The number of the last call so far. Pass it as `since` later. */
  last(): number;
  clear(): void;
}

/** Enough for hundreds of bootstraps. Older calls are dropped. */
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
