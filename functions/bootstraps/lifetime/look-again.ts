/**
 * A person asks to look again at instances of a step and at all that need them. What is missing is made again, as after a
 * resume.
 */
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Plan } from '../../engine/plan.js';
import type { StoredBootstrap } from '../../engine/record/documents.js';
import { type BootstrapRecord, type InstanceRecord, leaseId } from '../../engine/record/documents.js';
import { leasesOf } from '../../engine/record/leases-of.js';
import { planOfRecord } from '../../engine/record/plan-of-record.js';
import { advance, keptOf, transitionWrites } from '../../engine/record/transition.js';
import { updateBootstrap } from '../../engine/record/update.js';
import { publishReady } from '../../engine/run/publish.js';
import type { AnyStep } from '../../engine/step.js';
import type { Write } from '../../store/store.js';
import { type Act, refuseAdopted, refuseWhileGoing } from '../alter.js';
import { spendWrites } from '../budget/months.js';
import { priceOfStart } from '../budget/price.js';
import { refuseWhileStopping, startedAgain } from '../budget/stop-vms.js';

interface Chosen {
  /** Name of the step. */
  readonly step: string;
  /** The word for messages: `VM`. */
  readonly what: string;
  /** All keys unless given. */
  readonly keys?: readonly string[] | undefined;
}

/**
 * A running bootstrap goes on in its generation. An ended one begins a new generation, which also goes on with what was not
 * done. Leases of the old generation are deleted.
 */
export async function lookAgain(
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  { actor, action }: Omit<Act, 'shownBy'>,
  chosen: Chosen,
): Promise<StoredBootstrap> {
  const { standing, transition } = await updateBootstrap(context, id, async ({ version, data }, at) => {
    refuseWhileGoing(data);
    refuseAdopted(data);
    const { record: started, writes: counted } = await startedBy(context, data, at, chosen);
    const plan = planOfRecord(steps, data);
    const again = withDependents(plan, instancesOf(plan, chosen));
    const told = { event: { schema: 1, type: 'action', at, actor, action } as const };
    if (data.endedAt === undefined) {
      const begun = advance({ ...data, instances: waiting(data, plan, (name) => again.has(name)) }, plan, at, [told]);
      return { transition: begun, writes: transitionWrites(id, version, data, begun, at) };
    }
    const { endedAt, problem, expireAt, ...kept } = started;
    const generation = data.generation + 1;
    const isUndone = (name: string): boolean => again.has(name) || data.instances[name]?.state !== 'done';
    const next: BootstrapRecord = {
      ...kept,
      state: 'running',
      generation,
      instances: waiting(data, plan, isUndone, true),
    };
    const state = { event: { schema: 1, type: 'state', at, state: 'running', generation } as const };
    const begun = advance(next, plan, at, [told, state]);
    const leases = await leasesOf(context, id);
    const ready = new Set(begun.ready.map((instance) => leaseId(id, instance.id)));
    return {
      transition: begun,
      writes: [
        ...transitionWrites(id, version, data, begun, at),
        ...counted,
        ...leases
          .filter((lease) => !ready.has(lease.id))
          .map((lease): Write => ({ kind: 'delete', collection: lease.collection, id: lease.id })),
      ],
    };
  });
  if (transition !== undefined) await publishReady(context, id, transition.record.generation, transition.ready);
  return standing;
}

/** VMs that were stopped because of a ceiling start only if it allows what they cost. */
async function startedBy(
  context: Context,
  data: BootstrapRecord,
  at: string,
  { step, what, keys }: Chosen,
): Promise<{ readonly record: BootstrapRecord; readonly writes: readonly Write[] }> {
  if (step !== 'vm' || data.vmsStopped === undefined) return { record: data, writes: [] };
  refuseWhileStopping(data);
  if (keys !== undefined) {
    const message = 'cannot be given here: plinth stopped all VMs, and starts all of them again';
    throw new Problem('bad-input', `Some of the ${what}s ${message}.`, { errors: [{ path: 'vms', message }] });
  }
  const record = startedAgain(data, at);
  const price = priceOfStart(context.config, record, at);
  const after = { ...record, ...(price === undefined ? {} : { price, fuseAt: at }) };
  return { record: after, writes: await spendWrites(context, data, after, at) };
}

function instancesOf(plan: Plan, { step, what, keys }: Chosen): string[] {
  const all = [...plan.values()].filter((instance) => instance.step.name === step);
  const unknown = keys?.filter((key) => !all.some((instance) => instance.key === key)) ?? [];
  if (unknown.length > 0) {
    throw new Problem('bad-input', `There is no ${what} ${unknown.join(', ')}.`, {
      errors: unknown.map((key) => ({ path: key, message: `is no ${what} of this bootstrap` })),
      advice: `There are: ${all.map(({ key }) => key).join(', ')}.`,
    });
  }
  return all.filter(({ key }) => keys === undefined || keys.includes(key)).map(({ id }) => id);
}

/** A plan is sorted so that needs come first. */
function withDependents(plan: Plan, chosen: readonly string[]): ReadonlySet<string> {
  const again = new Set(chosen);
  for (const { id, needs } of plan.values()) if (needs.some((need) => again.has(need))) again.add(id);
  return again;
}

/** `anew`: also reset instances that are under way. Otherwise those look by themselves. */
function waiting(
  { instances }: BootstrapRecord,
  plan: Plan,
  isMeant: (id: string) => boolean,
  anew = false,
): BootstrapRecord['instances'] {
  const ended: readonly InstanceRecord['state'][] = ['done', 'failed', 'cancelled'];
  const next = { ...instances };
  for (const id of plan.keys()) {
    const before = instances[id];
    if (!isMeant(id) || !(anew || ended.includes(before?.state ?? 'waiting'))) continue;
    next[id] = { state: 'waiting', attempt: 0, ...keptOf(before) };
  }
  return next;
}
