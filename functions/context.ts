/** The world a function runs in, built in one place, with overrides for tests and `local/`. */
import type { Cloud } from './cloud/index.js';
import type { Config } from './config.js';
import type { KeyMaker } from './keys.js';
import type { Log } from './log.js';
import type { Publisher } from './publisher.js';
import type { Store } from './store/store.js';

export interface Clock {
  /** Real time, never scaled. */
  now(): Date;
  /** Waits `seconds` of the cloud's time: scaled where the cloud is simulated. Rejects when the signal aborts. */
  wait(seconds: number, signal?: AbortSignal): Promise<void>;
}

export interface Context {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly store: Store;
  readonly publisher: Publisher;
  readonly cloud: Cloud;
  readonly keys: KeyMaker;
}

/** What steps may use of it: no store, no publisher. */
export type StepContext = Pick<Context, 'config' | 'log' | 'clock' | 'cloud' | 'keys'>;
