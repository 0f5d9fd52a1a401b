/** What a change began, of whichever service: how far it is, and why it failed if it did. What the cloud files return to steps. */
import type { Problem } from '../../shared/problems.js';
import { faultOfOperation, operationProblem, problemOf } from './errors.js';

export interface Operation {
  readonly name: string;
  readonly done: boolean;
  /** It is over, and this is why nothing came of it. */
  readonly failure: Problem | undefined;
}

/** As Resource Manager, Service Usage and Artifact Registry answer. */
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

/** As Compute Engine answers. */
export interface ComputeAnswer {
  readonly name: string;
  readonly status?: string;
  readonly operationType?: string;
  readonly targetId?: string;
  readonly error?: unknown;
  readonly httpErrorStatusCode?: unknown;
}

/** Compute's `get` and `wait` succeed for operations that failed, too. */
export function readCompute(answer: ComputeAnswer, doing: string): Operation {
  const done = answer.status === 'DONE';
  const fault = done ? faultOfOperation(answer) : undefined;
  return { name: answer.name, done, failure: fault === undefined ? undefined : problemOf(fault, doing) };
}
