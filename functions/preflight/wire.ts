/** What `bootstraps` asks of the function `check`, and its reply. Reports of functions hold verdicts in the same form. */
import * as z from 'zod';
import { Problem, type ProblemCode, problemKinds } from '../../shared/problems.js';
import type { Verdict } from '../engine/finding.js';
import { inShort } from '../engine/record/bounded.js';

/** There are no more findings than this. */
const mostCodes = 60;

export const CheckRequest = z.strictObject({
  /** Of the findings that are asked for. */
  codes: z.array(z.string().max(60)).max(mostCodes),
  /** E-mail of the caller. */
  owner: z.string().max(300),
  ownerMember: z.string().max(400),
  projectId: z.string().max(60),
  /** Resolved, without secrets. */
  options: z.record(z.string(), z.unknown()),
});
export type CheckRequest = z.infer<typeof CheckRequest>;

const WireProblem = z.object({
  code: z.enum(Object.keys(problemKinds) as [ProblemCode, ...ProblemCode[]]),
  detail: z.string(),
  advice: z.string().optional(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  members: z.record(z.string(), z.unknown()).optional(),
});

export const WireVerdict = z.discriminatedUnion('state', [
  z.object({ state: z.literal('ok'), what: z.string() }),
  z.object({ state: z.literal('warning'), what: z.string(), mend: z.string().optional() }),
  z.object({
    state: z.literal('unknown'),
    what: z.string(),
    why: z.string().optional(),
    mend: z.string().optional(),
  }),
  z.object({ state: z.literal('stop'), problem: WireProblem }),
]);
export type WireVerdict = z.infer<typeof WireVerdict>;

export const CheckReply = z.object({
  /** By code. */
  verdicts: z.record(z.string(), WireVerdict),
});
export type CheckReply = z.infer<typeof CheckReply>;

export function toWire(verdict: Verdict): WireVerdict {
  const bare = <T extends object>(fields: T) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
  if (verdict.state === 'ok') return { state: 'ok', what: verdict.what };
  if (verdict.state !== 'stop') {
    const { state, mend } = verdict;
    const why = state === 'unknown' && verdict.why !== undefined ? { why: inShort(verdict.why) } : {};
    return bare({ state, what: inShort(verdict.what), mend, ...why }) as WireVerdict;
  }
  const { code, detail, advice, errors, members } = verdict.problem;
  const problem = bare({
    code,
    detail: inShort(detail),
    advice,
    errors: errors && [...errors],
    members: members && { ...members },
  });
  return { state: 'stop', problem: problem as z.infer<typeof WireProblem> };
}

export function fromWire(found: WireVerdict): Verdict {
  if (found.state !== 'stop') return found;
  const { code, detail, advice, errors, members } = found.problem;
  return {
    state: 'stop',
    problem: new Problem(code, detail, {
      ...(advice === undefined ? {} : { advice }),
      ...(errors === undefined ? {} : { errors }),
      ...(members === undefined ? {} : { members }),
    }),
  };
}
