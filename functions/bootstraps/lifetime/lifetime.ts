/** Changes of a bootstrap's lifetime by owners and operators: its deadline and its protection. */

import { addSeconds } from '../../../shared/add-seconds.js';
import { parseDuration, timeForm, timeOf } from '../../../shared/bootstrap/duration.js';
import { endFault, ttlFault } from '../../../shared/bootstrap/lifetime.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { BootstrapRecord, StoredBootstrap } from '../../engine/record/documents.js';
import type { AnyStep } from '../../engine/step.js';
import type { Caller } from '../../identity/auth.js';
import { type Alteration, alter } from '../alter.js';
import { spendWrites } from '../budget/months.js';
import { checkPaid } from '../budget/price.js';

/** The step `project` writes the labels. */
const shownBy = ['project'];

const refused = (path: string, message: string, advice?: string): Problem =>
  new Problem('bad-input', `${path} ${message}`, { errors: [{ path, message }], ...(advice && { advice }) });

/** A later end costs more. Throws `over-ceiling`, or `bad-input` where the caller's own most does not pay for it. */
async function paidFor(
  context: Context,
  record: BootstrapRecord,
  fields: Pick<Partial<BootstrapRecord>, 'deadlineAt' | 'protection'>,
  at: string,
  path: string,
): Promise<Alteration> {
  const after = { ...record, ...fields };
  checkPaid(after, path);
  // It may cost more from now on. What it has cost is held against that.
  const looked = record.price === undefined ? fields : { ...fields, fuseAt: at };
  return { fields: looked, writes: await spendWrites(context, record, after, at) };
}

/** Moves the deadline to `ttl` from now, if that is later. */
export async function extend(
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  actor: string,
  ttl: string,
): Promise<StoredBootstrap> {
  const fault = ttlFault(ttl);
  if (fault !== undefined) throw refused('ttl', fault);
  const seconds = parseDuration(ttl) ?? 0;
  return alter(context, steps, id, { actor, action: `extend ${ttl}`, shownBy }, async (record, at) => {
    const wanted = addSeconds(new Date(at), seconds);
    const beyond = endFault(record.createdAt, wanted, context.config.limits.maxTtlSeconds);
    if (beyond !== undefined) throw refused('ttl', beyond);
    return wanted > record.deadlineAt ? paidFor(context, record, { deadlineAt: wanted }, at, 'ttl') : undefined;
  });
}

/** The project is not removed before `until`, whatever its deadline. Only operators pass the deployment's ceiling. */
export async function protect(
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  { email, operator }: Pick<Caller, 'email' | 'operator'>,
  { until, reason }: { readonly until: string; readonly reason: string },
): Promise<StoredBootstrap> {
  const wanted = timeOf(until, 'ahead', context.clock.now());
  if (wanted === undefined) throw refused('until', timeForm);
  const act = { actor: email, action: `protect until ${wanted}: ${reason}`, shownBy };
  return alter(context, steps, id, act, async (record, at) => {
    if (wanted <= at) throw refused('until', 'lies in the past');
    const { createdAt } = record;
    const forAll = endFault(createdAt, wanted);
    if (forAll !== undefined) throw refused('until', forAll, 'Give an earlier time.');
    const beyond = operator ? undefined : endFault(createdAt, wanted, context.config.limits.maxTtlSeconds);
    if (beyond !== undefined) {
      throw refused('until', beyond, 'Give an earlier time, or ask an operator of this deployment to protect it.');
    }
    return paidFor(context, record, { protection: { until: wanted, reason, by: email } }, at, 'until');
  });
}

export const unprotect = (
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  actor: string,
): Promise<StoredBootstrap> =>
  alter(context, steps, id, { actor, action: 'unprotect', shownBy }, async (record, at) => {
    const { protection, ...others } = record;
    if (protection === undefined) return undefined;
    // It was admitted for less time from now on, so it passes that sooner. Past its deadline, cleanup is what comes next.
    const looked = record.price === undefined || record.deadlineAt <= at ? {} : { fuseAt: at };
    return { fields: { protection: undefined, ...looked }, writes: await spendWrites(context, record, others, at) };
  });
