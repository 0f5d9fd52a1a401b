/** Changes of a bootstrap's lifetime by owners and operators: its deadline and its protection. */

import { addSeconds } from '../../shared/add-seconds.js';
import { formatSeconds, parseDuration } from '../../shared/bootstrap/duration.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { StoredBootstrap } from '../engine/record/documents.js';
import type { AnyStep } from '../engine/step.js';
import { alter } from './alter.js';

/** The step `project` writes the labels. */
const shownBy = ['project'];

const refused = (path: string, message: string): Problem =>
  new Problem('bad-input', `${path} ${message}`, { errors: [{ path, message }] });

/** Moves the deadline to `ttl` from now, if that is later. The ceiling counts from when the bootstrap began. */
export async function extend(
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  actor: string,
  ttl: string,
): Promise<StoredBootstrap> {
  const seconds = parseDuration(ttl);
  if (seconds === undefined || seconds <= 0) throw refused('ttl', 'must be a duration above zero, such as 4h');
  const { maxTtlSeconds } = context.config.limits;
  return alter(context, steps, id, { actor, action: `extend ${ttl}`, shownBy }, ({ createdAt, deadlineAt }, at) => {
    const wanted = addSeconds(new Date(at), seconds);
    if (maxTtlSeconds !== undefined && wanted > addSeconds(new Date(createdAt), maxTtlSeconds)) {
      throw refused(
        'ttl',
        `would go beyond ${formatSeconds(maxTtlSeconds)} from its beginning, the most there is here`,
      );
    }
    return wanted > deadlineAt ? { fields: { deadlineAt: wanted } } : undefined;
  });
}

/** The project is not removed before `until`, whatever its deadline. */
export async function protect(
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  actor: string,
  { until, reason }: { readonly until: string; readonly reason: string },
): Promise<StoredBootstrap> {
  const wanted = new Date(until).toISOString();
  return alter(context, steps, id, { actor, action: `protect until ${wanted}: ${reason}`, shownBy }, (_, at) => {
    if (wanted <= at) throw refused('until', 'lies in the past');
    return { fields: { protection: { until: wanted, reason, by: actor } } };
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
