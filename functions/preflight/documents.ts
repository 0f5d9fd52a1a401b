/** `preflights/{id}`: what the door asks of the cloud lane, and its answer. */
import * as z from 'zod';
import { moment } from '../../shared/api.js';
import { Problem, type ProblemCode, problemKinds } from '../../shared/problems.js';
import { inShort } from '../engine/record/bounded.js';
import { lift } from '../store/lift.js';
import type { Verdict } from './finding.js';

const StoredRefusal = z.object({
  code: z.enum(Object.keys(problemKinds) as [ProblemCode, ...ProblemCode[]]),
  detail: z.string(),
  advice: z.string().optional(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  members: z.record(z.string(), z.unknown()).optional(),
});

const StoredVerdict = z.discriminatedUnion('state', [
  z.object({ state: z.literal('ok'), what: z.string() }),
  z.object({ state: z.literal('warning'), what: z.string(), mend: z.string().optional() }),
  z.object({
    state: z.literal('unknown'),
    what: z.string(),
    why: z.string().optional(),
    mend: z.string().optional(),
  }),
  z.object({ state: z.literal('stop'), problem: StoredRefusal }),
]);
export type StoredVerdict = z.infer<typeof StoredVerdict>;

export const PreflightRecord = z.object({
  schema: z.literal(1),
  /** The codes that are asked for. */
  codes: z.array(z.string()),
  owner: z.string(),
  ownerMember: z.string(),
  projectId: z.string(),
  /** Resolved, without secrets. */
  options: z.record(z.string(), z.unknown()),
  /** By code, once it is answered. */
  verdicts: z.record(z.string(), StoredVerdict).optional(),
  /** Firestore removes it then, if whoever asked has died. */
  expireAt: moment('When Firestore removes it'),
});
export type PreflightRecord = z.infer<typeof PreflightRecord>;
export const liftPreflight = lift('preflight', PreflightRecord, 1);

export function stored(verdict: Verdict): StoredVerdict {
  const bare = <T extends object>(fields: T) =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
  if (verdict.state === 'ok') return { state: 'ok', what: verdict.what };
  if (verdict.state !== 'stop') {
    const { state, mend } = verdict;
    const why = state === 'unknown' && verdict.why !== undefined ? { why: inShort(verdict.why) } : {};
    return bare({ state, what: inShort(verdict.what), mend, ...why }) as StoredVerdict;
  }
  const { code, detail, advice, errors, members } = verdict.problem;
  const problem = bare({
    code,
    detail: inShort(detail),
    advice,
    errors: errors && [...errors],
    members: members && { ...members },
  });
  return { state: 'stop', problem: problem as z.infer<typeof StoredRefusal> };
}

export function verdictIn(found: StoredVerdict): Verdict {
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
