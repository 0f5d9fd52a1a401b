/** Collects all objections to a request, to report them at once. */
import { type Fault, Problem } from '../../../shared/problems.js';
import type { Found } from '../../preflight/look.js';

/** Throws what the checks throw. One problem comes out as it is, several as one problem that names each fault. */
export async function checkAll(checks: readonly (() => unknown)[]): Promise<void> {
  const results = await Promise.allSettled(checks.map(async (check) => check()));
  const thrown = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  const [first] = thrown;
  if (first === undefined) return;
  const problems = thrown.filter((each) => each instanceof Problem);
  if (problems.length < thrown.length) throw thrown.find((each) => !(each instanceof Problem));
  // A check that could not be made proves nothing, so the certain problems go first.
  const certain = problems.filter(({ kind }) => kind.status < 500);
  if (certain.length < 2) throw certain[0] ?? first;
  throw together(certain);
}

/** Why a bootstrap is refused after these findings, with all that stops it. Undefined: it is not. */
export function problemOf(found: readonly Found[]): Problem | undefined {
  const stops = found.flatMap(({ verdict }) => (verdict.state === 'stop' ? [verdict.problem] : []));
  if (stops.length > 1) return together(stops);
  // What could not be asked proves nothing, so what stops it for certain goes first.
  return stops[0] ?? found.flatMap(({ verdict }) => (verdict.state === 'unknown' ? (verdict.problem ?? []) : []))[0];
}

function together(problems: readonly Problem[]): Problem {
  const codes = new Set(problems.map(({ code }) => code));
  const [code = 'bad-input'] = codes;
  const told = problems.some(({ errors = [] }) => errors.length > 0);
  const errors: readonly Fault[] = problems.flatMap(
    ({ errors: each, detail }) => each ?? (told ? [{ path: 'body', message: detail }] : []),
  );
  const advice = [...new Set(problems.flatMap((problem) => problem.advice ?? []))];
  return new Problem(codes.size === 1 ? code : 'bad-input', problems.map(({ detail }) => detail).join('; '), {
    ...(errors.length > 0 && { errors }),
    ...(advice.length > 0 && { advice: advice.join('\n') }),
  });
}
