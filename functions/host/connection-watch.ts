/** Watches the connections of a process to each origin. It does nothing yet. */
import type { Log } from './log.js';

export interface ConnectionWatch {
  observe<T>(pool: string, origin: string, call: () => Promise<T>): Promise<T>;
}

export const createConnectionWatch = (_: {
  readonly log: Log;
  readonly youngSeconds?: number;
  readonly answerSeconds?: number;
}): ConnectionWatch => ({ observe: (_pool, _origin, call) => call() });
