/** What a failure means for an instance: wait and try again, or give up. Pure. */
import { Problem, type RetryClass } from '../../../shared/problems.js';

/** `internal`: a step threw what is no Problem; a fault of ours that may be gone the next time. */
export type FailureClass = RetryClass | 'internal';

export const failureClass = (error: unknown): FailureClass => {
  if (!(error instanceof Problem)) return 'internal';
  return error.code === 'internal' ? 'internal' : error.kind.retry;
};

export interface History {
  /** Failures recorded before this one, by class. */
  readonly failures: Readonly<Record<string, number>>;
  /** Cloud time waited for propagation so far. */
  readonly propagationSeconds: number;
}

/** How often each class is tried again. */
const budgets: Readonly<Record<Exclude<FailureClass, 'propagation'>, number>> = {
  transient: 8,
  rate: 20,
  // The step has a fallback of its own; what comes here is what that met.
  capacity: 3,
  internal: 3,
  none: 0,
};
/** What was made, bound or enabled just now is known everywhere within seven minutes, so Google says. */
export const propagationBudgetSeconds = 600;

/** Seconds before the n-th retry, from 0; without jitter. */
const delays: Readonly<Record<Exclude<FailureClass, 'none'>, (n: number, history: History) => number>> = {
  transient: (n) => Math.min(2 ** n, 30),
  rate: (n) => Math.min(10 * 2 ** n, 60),
  // In proportion to what has been waited: a look is a little late at most, and long waits cost few of them.
  propagation: (_n, { propagationSeconds }) => Math.min(Math.max(2, propagationSeconds / 16), 20),
  capacity: (n) => Math.min(15 * 2 ** n, 60),
  internal: (n) => 2 ** n,
};

/** Seconds to wait before the next try; undefined: the budget is used up. `random` is in [0, 1). */
export function retryDelay(error: unknown, history: History, random: number): number | undefined {
  const kind = failureClass(error);
  if (kind === 'none') return undefined;
  const n = history.failures[kind] ?? 0;
  if (kind === 'propagation' ? history.propagationSeconds >= propagationBudgetSeconds : n >= budgets[kind]) {
    return undefined;
  }
  const asked = error instanceof Problem ? error.retryAfterSeconds : undefined;
  // Up to a half more, so that those who failed together do not come again together.
  const delay = delays[kind](n, history) * (1 + random / 2);
  return asked === undefined ? delay : Math.max(asked, delay / 4);
}

/** What a person reads once the budget is used up. */
export function exhausted(error: Problem, tries: number): Problem {
  if (tries === 0) return error;
  return new Problem(error.code, `${error.detail} It was tried ${tries + 1} times.`, {
    advice: error.advice ?? 'Run the same command again: it goes on from here.',
    cause: error,
  });
}
