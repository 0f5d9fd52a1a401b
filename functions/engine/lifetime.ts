/** What owners and operators change in the life of a bootstrap: its deadline, and whether it is protected. Called by the HTTP function. */
import { formatSeconds, parseDuration } from '../../shared/bootstrap/duration.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { StoredBootstrap } from './begin.js';
import { change } from './change.js';
import type { BootstrapRecord } from './documents.js';
import { graphOf } from './graph.js';
import { addSeconds } from './lease.js';
import { planOf } from './plan.js';
import { publishReady } from './publish.js';
import { removeAtOf } from './removal-rule.js';
import type { AnyStep } from './step.js';
import { changeWrites } from './transition.js';

interface Lifetime {
  readonly deadlineAt?: string;
  /** `undefined` takes it away. */
  readonly protection?: BootstrapRecord['protection'] | undefined;
}

const refused = (path: string, message: string): Problem =>
  new Problem('bad-input', `${path} ${message}`, { errors: [{ path, message }] });

/** Its time is over `ttl` from now, if that is later than it was. Up to the ceiling, counted from when it began. */
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
  return alter(context, steps, id, actor, `extend ${ttl}`, ({ createdAt, deadlineAt }, at) => {
    const wanted = addSeconds(new Date(at), seconds);
    if (maxTtlSeconds !== undefined && wanted > addSeconds(new Date(createdAt), maxTtlSeconds)) {
      throw refused(
        'ttl',
        `would go beyond ${formatSeconds(maxTtlSeconds)} from its beginning, the most there is here`,
      );
    }
    return wanted > deadlineAt ? { deadlineAt: wanted } : undefined;
  });
}

/** It is not removed before `until`, whatever its deadline. */
export async function protect(
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  actor: string,
  { until, reason }: { readonly until: string; readonly reason: string },
): Promise<StoredBootstrap> {
  const wanted = new Date(until).toISOString();
  return alter(context, steps, id, actor, `protect until ${wanted}: ${reason}`, (_, at) => {
    if (wanted <= at) throw refused('until', 'lies in the past');
    return { protection: { until: wanted, reason, by: actor } };
  });
}

export const unprotect = (
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  actor: string,
): Promise<StoredBootstrap> =>
  alter(context, steps, id, actor, 'unprotect', ({ protection }) =>
    protection === undefined ? undefined : { protection: undefined },
  );

/**
 * Changes the record, and has the labels of its project follow. Once this has returned, no cleanup goes by what was before:
 * a removal is written against the version of the record that it was decided by.
 */
async function alter(
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  actor: string,
  action: string,
  decide: (record: BootstrapRecord, at: string) => Lifetime | undefined,
): Promise<StoredBootstrap> {
  const { standing, change: changed } = await change(context, id, async ({ version, data }, at) => {
    if (data.removal !== undefined || data.state === 'removed') {
      throw new Problem(
        'conflict',
        `The bootstrap of ${data.name} is ${data.state === 'removed' ? 'removed' : 'being removed'}.`,
      );
    }
    if (data.state === 'cancelling') {
      throw new Problem('conflict', `The bootstrap of ${data.name} is being cancelled.`, { retryAfterSeconds: 5 });
    }
    const changes = decide(data, at);
    if (changes === undefined) return undefined;
    const { protection, ...rest } = { ...data, ...changes };
    const lifetime = { ...rest, ...(protection === undefined ? {} : { protection }) };
    // The project's own step writes its labels. Whoever runs it now with the old times loses its lease.
    const project = data.instances['project'];
    const relabels = project?.output !== undefined || project?.state === 'ready';
    const plan = planOf(graphOf(steps), data.options as unknown as BootstrapOptions);
    const step = relabels ? plan.get('project') : undefined;
    const output = project?.output === undefined ? {} : { output: project.output };
    const record: BootstrapRecord = {
      ...lifetime,
      removeAt: removeAtOf(lifetime),
      ...(step === undefined
        ? {}
        : { instances: { ...data.instances, project: { state: 'ready', attempt: 0, ...output } } }),
    };
    const altered = {
      record,
      ready: step === undefined ? [] : [step],
      events: [{ event: { schema: 1, type: 'action', at, actor, action } as const }],
    };
    return { change: altered, writes: changeWrites(id, version, data, altered, at) };
  });
  if (changed !== undefined) await publishReady(context, id, standing.data.generation, changed.ready);
  return standing;
}
