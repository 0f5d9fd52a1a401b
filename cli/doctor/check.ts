/** One thing that doctor checked. */
import { Problem, type ProblemCode } from '../../shared/problems.js';

export interface Check {
  readonly name: string;
  /** `skipped`: something that the check needs is missing. */
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly detail: string;
  /** How to fix it. */
  readonly advice?: string;
  /** For a failed check: it decides the exit code. */
  readonly code?: ProblemCode;
}

export const ok = (name: string, detail: string): Check => ({ name, state: 'ok', detail });
export const skipped = (name: string, detail: string): Check => ({ name, state: 'skipped', detail });
export const warning = (name: string, detail: string, advice: string): Check => ({
  name,
  state: 'warning',
  detail,
  advice,
});
export const failed = (name: string, code: ProblemCode, detail: string, advice?: string): Check => ({
  name,
  state: 'failed',
  detail,
  code,
  ...(advice !== undefined && { advice }),
});

export function failedBy(name: string, error: unknown): Check {
  if (!(error instanceof Problem)) throw error;
  return failed(name, error.code, error.detail, error.advice);
}
