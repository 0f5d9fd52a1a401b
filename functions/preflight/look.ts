/** Looks at findings side by side, and tells what was found. */
import type { FindingCode } from '../../shared/bootstrap/finding-codes.js';
import type { PreflightFinding } from '../../shared/bootstrap/preflight.js';
import { Problem } from '../../shared/problems.js';
import { pastHiccup } from '../cloud/hiccup.js';
import type { Asking, Finding, Verdict } from '../engine/finding.js';

export interface Found {
  readonly code: FindingCode;
  readonly title: string;
  readonly why: string;
  readonly verdict: Verdict;
  /** What it asked for, if it was asked here. */
  readonly seen?: unknown;
}

type Question = Pick<Finding, 'code' | 'title' | 'why'>;

export const foundAs = ({ code, title, why }: Question, verdict: Verdict, seen?: unknown): Found => ({
  code,
  title,
  why,
  verdict,
  ...(seen === undefined ? {} : { seen }),
});

/** Each question is asked once for all findings. */
export function createOnce(): Asking['once'] {
  const asked = new Map<string, Promise<unknown>>();
  return <T>(question: string, ask: () => Promise<T>): Promise<T> => {
    const known = asked.get(question);
    if (known !== undefined) return known as Promise<T>;
    const answer = ask();
    asked.set(question, answer);
    // What failed may be asked again.
    answer.catch(() => asked.delete(question));
    return answer;
  };
}

/**
 * All at once, as none depends on another. What a finding throws as a Problem is its verdict: `stop`, or `unknown` where it may
 * pass. Anything else that is thrown comes out.
 */
export async function lookAt(findings: readonly Finding[], asking: Asking): Promise<readonly Found[]> {
  const results = await Promise.allSettled(findings.map((finding) => lookAtOne(finding, asking)));
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

async function lookAtOne(finding: Finding, asking: Asking): Promise<Found> {
  try {
    const { verdict, seen } = await pastHiccup(() => finding.look(asking), asking);
    return foundAs(finding, verdict, seen);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return foundAs(finding, verdictOf(finding, error));
  }
}

/** What could not be asked proves nothing. */
function verdictOf({ mustBeAsked }: Finding, problem: Problem): Verdict {
  if (mustBeAsked === true && problem.kind.status < 500) return { state: 'stop', problem };
  const { detail: what, advice: mend } = problem;
  return { state: 'unknown', what, mend, ...(mustBeAsked === true ? { problem } : {}) };
}

/** Warnings stop a caller who asked for that. */
export const strictly = (found: Found): Found =>
  found.verdict.state === 'warning'
    ? {
        ...found,
        verdict: {
          state: 'stop',
          problem: new Problem('bad-input', found.verdict.what, {
            ...(found.verdict.mend === undefined ? {} : { advice: found.verdict.mend }),
          }),
        },
      }
    : found;

/** For people and programs. `why` is left out where all is well. */
export function shownOf({ code, title, why, verdict }: Found): PreflightFinding {
  if (verdict.state === 'stop') {
    const { problem } = verdict;
    return {
      code,
      title,
      state: 'stop',
      what: problem.detail,
      why,
      ...(problem.advice === undefined ? {} : { mend: problem.advice }),
      problem: problem.code,
      ...(problem.errors === undefined ? {} : { errors: [...problem.errors] }),
    };
  }
  const { state, what } = verdict;
  if (state === 'ok') return { code, title, state, what };
  const { mend } = verdict;
  const told = state === 'unknown' ? (verdict.why ?? why) : why;
  const likely = state === 'unknown' ? verdict.likely : undefined;
  return {
    code,
    title,
    state,
    what,
    why: told,
    ...(mend === undefined ? {} : { mend }),
    ...(likely === undefined ? {} : { likely }),
  };
}
