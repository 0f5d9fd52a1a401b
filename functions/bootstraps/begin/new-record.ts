/** The record of a bootstrap before anything is made, and the first transition of a generation. Pure. */

import { addSeconds } from '../../../shared/add-seconds.js';
import { parseDuration } from '../../../shared/bootstrap/duration.js';
import type { BootstrapOptions, GivenOptions } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import { traceparentOf } from '../../../shared/trace.js';
import { emptyRecord } from '../../engine/record/create.js';
import type { BootstrapRecord } from '../../engine/record/documents.js';
import { planOfRecord } from '../../engine/record/plan-of-record.js';
import { advance, keptOf, type Transition } from '../../engine/record/transition.js';
import type { AnyStep } from '../../engine/step.js';
import { boundAs } from '../people/bound.js';
import type { BeginFacts } from './begin-facts.js';
export const newRecord = (
  facts: BeginFacts,
  its: Pick<
    BootstrapRecord,
    'projectId' | 'machineAccess' | 'sshSourceRanges' | 'loadBalancers' | 'callerSecret' | 'base'
  >,
  now: Date,
): BootstrapRecord =>
  emptyRecord({
    name: facts.options.projectName,
    projectId: its.projectId,
    owner: facts.caller.email,
    ownerMember: facts.caller.member,
    ...boundAs({}, facts.caller),
    options: { ...facts.options },
    given: openOnly(facts.given, facts.options),
    sshPublicKey: facts.sshPublicKey,
    callerSecret: its.callerSecret,
    ...(its.machineAccess === undefined ? {} : { machineAccess: its.machineAccess }),
    ...(its.sshSourceRanges === undefined ? {} : { sshSourceRanges: its.sshSourceRanges }),
    ...(its.loadBalancers === undefined ? {} : { loadBalancers: its.loadBalancers }),
    ...(facts.package === undefined ? {} : { package: facts.package }),
    base: its.base,
    ...(facts.trace === undefined ? {} : { traceparent: traceparentOf(facts.trace) }),
    createdAt: now.toISOString(),
    deadlineAt: addSeconds(now, ttlSeconds(facts.options)),
    warnings: [...facts.warnings],
  });

/** All instances wait. Those without needs are ready. `kept` ones are done, as they are. */
export function startGeneration(
  steps: readonly AnyStep[],
  record: BootstrapRecord,
  at: string,
  { told = [], kept }: { readonly told?: Transition['events']; readonly kept?: ReadonlySet<string> | undefined } = {},
): Transition {
  const plan = planOfRecord(steps, record);
  const instances = Object.fromEntries(
    [...plan.keys()].map((id) => {
      const before = record.instances[id];
      if (before !== undefined && kept?.has(id)) return [id, before];
      const { unfinished: look } = plan.get(id)?.step ?? {};
      const cutOff = look !== undefined && (before?.state === 'ready' || before?.cutOff === true) && { cutOff: true };
      return [id, { state: 'waiting' as const, attempt: 0, ...keptOf(before), ...cutOff }];
    }),
  );
  const event = { schema: 1, type: 'state', at, state: 'running', generation: record.generation } as const;
  return advance({ ...record, instances }, plan, at, [...told, { event }]);
}

/** The given options without secrets, which are stored only in Secret Manager. */
export const openOnly = (given: GivenOptions, resolved: BootstrapOptions): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).filter(([option, value]) => option in resolved && value !== undefined));

export function ttlSeconds({ projectTtl }: Pick<BootstrapOptions, 'projectTtl'>): number {
  const seconds = parseDuration(projectTtl);
  if (seconds === undefined) throw new Problem('bad-input', `--project-ttl ${projectTtl} is no duration.`);
  return seconds;
}
