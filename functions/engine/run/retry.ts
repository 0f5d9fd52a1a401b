/** What a failure means for an instance: a retry after a while, or the end. Pure. */
import { Problem, type RetryClass } from '../../../shared/problems.js';

/** `internal`: a step threw something that is not a Problem. That is our own bug, and it may be gone the next time. */
export type FailureClass = RetryClass | 'internal';

export const failureClass = (error: unknown): FailureClass => {
  if (!(error instanceof Problem)) return 'internal';
  return error.code === 'internal' ? 'internal' : error.kind.retry;
};

export interface History {
  /** Failures recorded before this one, by class. */
  readonly failures: Readonly<Record<string, number>>;
  /** Cloud time spent waiting for propagation so far. */
  readonly propagationSeconds: number;
}

/** How many retries each class gets. */
const budgets: Readonly<Record<Exclude<FailureClass, 'propagation'>, number>> = {
  transient: 8,
  rate: 20,
  // The step has a fallback of its own. Only the failure of that fallback comes here.
  capacity: 3,
  internal: 3,
  none: 0,
};
/** Google says that anything made, bound or enabled is known everywhere within seven minutes. */
export const propagationBudgetSeconds = 600;

/** Seconds before the n-th retry, counted from 0, without jitter. */
const delays: Readonly<Record<Exclude<FailureClass, 'none'>, (n: number, history: History) => number>> = {
  transient: (n) => Math.min(2 ** n, 30),
  rate: (n) => Math.min(10 * 2 ** n, 60),
  // In proportion to the wait so far: each look is only a little late, and long waits need few looks.
  propagation: (_n, { propagationSeconds }) => Math.min(Math.max(2, propagationSeconds / 16), 20),
  capacity: (n) => Math.min(15 * 2 ** n, 60),
  internal: (n) => 2 ** n,
};

/** Seconds before the next retry. Undefined: the budget is used up. `random` is in [0, 1). */
export function retryDelay(error: unknown, history: History, random: number): number | undefined {
  const kind = failureClass(error);
  if (kind === 'none') return undefined;
  const n = history.failures[kind] ?? 0;
  if (kind === 'propagation' ? history.propagationSeconds >= propagationBudgetSeconds : n >= budgets[kind]) {
    return undefined;
  }
  const asked = error instanceof Problem ? error.retryAfterSeconds : undefined;
  // Up to half more, so that instances that failed together do not retry together.
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
