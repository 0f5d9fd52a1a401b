/** One form for the operations of all services: whether it has ended, and the failure if it failed. */
import type { Problem } from '../../shared/problems.js';
import { faultOfOperation, operationProblem, problemOf } from './errors.js';

export interface Operation {
  readonly name: string;
  readonly done: boolean;
  /** Set if the operation has failed. */
  readonly failure: Problem | undefined;
  /** For one under way, if its service can tell: resolves once it has ended, or sooner. Rejects if nobody can tell now. */
  readonly ended?: () => Promise<void>;
}

/** The form of Resource Manager, Service Usage and Artifact Registry. */
export interface LongRunningAnswer {
  readonly name: string;
  readonly done?: boolean;
  readonly error?: unknown;
}

/** `doing` ends the sentence "Could not …". */
export function readLongRunning({ name, done, error }: LongRunningAnswer, doing: string): Operation {
  const failure = error === undefined || error === null ? undefined : operationProblem(error, doing);
  return { name, done: done === true || failure !== undefined, failure };
}

/** The form of Compute Engine. */
export interface ComputeAnswer {
  readonly name: string;
  readonly status?: string;
  readonly operationType?: string;
  readonly targetId?: string;
  readonly error?: unknown;
  readonly httpErrorStatusCode?: unknown;
}

/** Compute Engine's `get` and `wait` also succeed for failed operations. */
export function readCompute(answer: ComputeAnswer, doing: string): Operation {
  const done = answer.status === 'DONE';
  const fault = done ? faultOfOperation(answer) : undefined;
  return { name: answer.name, done, failure: fault === undefined ? undefined : problemOf(fault, doing) };
}
