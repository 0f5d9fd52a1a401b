/** One thing that doctor looked at. */
import { Problem, type ProblemCode } from '../../shared/problems.js';

export interface Check {
  readonly name: string;
  /** `skipped`: what it would need is missing. */
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly detail: string;
  /** What to do about it. */
  readonly advice?: string;
  /** Of one that failed: what the exit code goes by. */
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
