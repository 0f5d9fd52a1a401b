/** A google.longrunning operation, as Resource Manager, Service Usage and Artifact Registry answer. Read by their steps. */
import { operationProblem } from './errors.js';

export interface Operation {
  readonly name: string;
  readonly done?: boolean;
  readonly error?: unknown;
}

/** Throws the problem of a failed operation; else says whether it is done. `doing` ends the sentence "Could not …". */
export function isDone(operation: Operation, doing: string): boolean {
  if (operation.error !== undefined && operation.error !== null) throw operationProblem(operation.error, doing);
  return operation.done === true;
}
