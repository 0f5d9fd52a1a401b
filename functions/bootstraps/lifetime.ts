/** Changes of a bootstrap's lifetime by owners and operators: its deadline and its protection. */

import { addSeconds } from '../../shared/add-seconds.js';
import { formatSeconds, parseDuration } from '../../shared/bootstrap/duration.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { StoredBootstrap } from '../engine/record/documents.js';
import type { AnyStep } from '../engine/step.js';
import type { Caller } from '../identity/auth.js';
import { alter } from './alter.js';

/** The step `project` writes the labels. */
const shownBy = ['project'];

const refused = (path: string, message: string, advice?: string): Problem =>
  new Problem('bad-input', `${path} ${message}`, { errors: [{ path, message }], ...(advice && { advice }) });

/** The ceiling counts from when the bootstrap began. Undefined if the deployment has none, or `wanted` keeps to it. */
function beyondCeiling({ config: { limits } }: Context, createdAt: string, wanted: string): string | undefined {
  const { maxTtlSeconds } = limits;
  return maxTtlSeconds !== undefined && wanted > addSeconds(new Date(createdAt), maxTtlSeconds)
    ? `would go beyond ${formatSeconds(maxTtlSeconds)} from its beginning, the most there is here`
    : undefined;
}

/** Moves the deadline to `ttl` from now, if that is later. */
export async function extend(
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  actor: string,
  ttl: string,
): Promise<StoredBootstrap> {
  const seconds = parseDuration(ttl);
  if (seconds === undefined || seconds <= 0) throw refused('ttl', 'must be a duration above zero, such as 4h');
  return alter(context, steps, id, { actor, action: `extend ${ttl}`, shownBy }, ({ createdAt, deadlineAt }, at) => {
    const wanted = addSeconds(new Date(at), seconds);
    const beyond = beyondCeiling(context, createdAt, wanted);
    if (beyond !== undefined) throw refused('ttl', beyond);
    return wanted > deadlineAt ? { fields: { deadlineAt: wanted } } : undefined;
  });
}

/** The project is not removed before `until`, whatever its deadline. Only operators pass the ceiling. */
export async function protect(
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  { email, operator }: Pick<Caller, 'email' | 'operator'>,
  { until, reason }: { readonly until: string; readonly reason: string },
): Promise<StoredBootstrap> {
  const wanted = new Date(until).toISOString();
  const act = { actor: email, action: `protect until ${wanted}: ${reason}`, shownBy };
  return alter(context, steps, id, act, ({ createdAt }, at) => {
    if (wanted <= at) throw refused('until', 'lies in the past');
    const beyond = operator ? undefined : beyondCeiling(context, createdAt, wanted);
    if (beyond !== undefined) {
      throw refused('until', beyond, 'Give an earlier time, or ask an operator of this deployment to protect it.');
    }
    return { fields: { protection: { until: wanted, reason, by: email } } };
  });
}

export const unprotect = (
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  actor: string,
): Promise<StoredBootstrap> =>
  alter(context, steps, id, { actor, action: 'unprotect', shownBy }, ({ protection }) =>
    protection === undefined ? undefined : { fields: { protection: undefined } },
  );
