/** Requests the removal of a bootstrap and restarts one that was cut off. */
import { addSeconds } from '../../../shared/add-seconds.js';
import type { Context } from '../../context.js';
import type { StoredBootstrap } from '../../engine/record/documents.js';
import { type BootstrapRecord, liftLease, type RemovalRecord, read } from '../../engine/record/documents.js';
import { leasesOf } from '../../engine/record/leases-of.js';
import { planOfRecord } from '../../engine/record/plan-of-record.js';
import { neverSeen } from '../../engine/record/removal-rule.js';
import { startRemoval, type Transition, transitionWrites, watchSeconds } from '../../engine/record/transition.js';
import { type Update, updateBootstrap } from '../../engine/record/update.js';
import { publishReady } from '../../engine/run/publish.js';
import type { AnyStep } from '../../engine/step.js';
import { checkAgreed, planOfRemoval } from '../plan.js';
import { stop } from './stop.js';

export interface RemovalRequest {
  /** E-mail, or `cleanup`. */
  readonly by: string;
  readonly why: RemovalRecord['why'];
  /** Decides from the current record when the removal is written. False: the bootstrap stays. */
  readonly mayGo?: (record: BootstrapRecord) => boolean;
  /** Hash of the plan that a person agreed to. */
  readonly agreed?: string | undefined;
  /** The project appeared after the bootstrap was removed. Only the project is removed now. */
  readonly late?: boolean;
  /** This instance left something outside of the project when the bootstrap was removed. Only its undo is done now. */
  readonly left?: string;
}

/**
 * Begins the removal or tries it again. A running bootstrap is cancelled first, and is removed when everything running has
 * ended. Nothing changes if it is removed, is being removed, or may not go.
 */
export async function requestRemoval(
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  { by, why, mayGo = () => true, agreed, late = false, left }: RemovalRequest,
): Promise<StoredBootstrap> {
  const { standing, transition } = await updateBootstrap(context, id, async (found, at) => {
    const { data } = found;
    if (data.state === 'removed' && late && neverSeen(data)) return removedOnceMore(steps, found, at, by, 'project');
    if (data.state === 'removed' && left !== undefined) return removedOnceMore(steps, found, at, by, left);
    if (data.state === 'removed' || !mayGo(data)) return undefined;
    checkAgreed(agreed, () => planOfRemoval(steps, found));
    if (data.state === 'removing') return restarted(context, steps, found, at);
    if (data.state === 'cancelling' && data.removal !== undefined) return stoppedAgain(context, steps, found, at);
    const removal = requested(data.removal, at, by, why);
    const isActive = data.state === 'running';
    // Running instances end by themselves, so cleanup need not look each time.
    const removeAt = addSeconds(new Date(at), watchSeconds);
    return stop(context, steps, found, { ...data, state: 'cancelling', removal, removeAt }, at, [
      { event: { schema: 1, type: 'action', at, actor: by, action: why === 'expired' ? 'expired' : 'cleanup' } },
      ...(isActive
        ? [{ event: { schema: 1, type: 'state', at, state: 'cancelling', generation: data.generation } } as const]
        : []),
    ]);
  });
  if (transition !== undefined) await publishReady(context, id, standing.data.generation, transition.ready);
  return standing;
}

/** Everything but one instance is gone. The step `project` judges once more whose project it is. */
function removedOnceMore(
  steps: readonly AnyStep[],
  { id, version, data }: StoredBootstrap,
  at: string,
  by: string,
  instance: string,
) {
  const before: BootstrapRecord = {
    ...data,
    removal: { requestedAt: at, by, why: 'expired', failures: 0 },
    instances: { ...data.instances, [instance]: { state: 'waiting', attempt: 0 } },
  };
  const event = { schema: 1, type: 'action', at, actor: by, action: 'expired' } as const;
  const begun = startRemoval(before, planOfRecord(steps, before), at, [{ event }]);
  return { transition: begun, writes: transitionWrites(id, version, data, begun, at) };
}

/** A person's request resets the count of failures. */
const requested = (before: RemovalRecord | undefined, at: string, by: string, why: RemovalRecord['why']) =>
  before !== undefined && why === 'expired' ? before : { requestedAt: at, by, why, failures: 0 };

/** A removal without any lease was cut off where sweep cannot see it. */
async function restarted(
  context: Context,
  steps: readonly AnyStep[],
  { id, version, data }: StoredBootstrap,
  at: string,
): Promise<Update | undefined> {
  const leases = await leasesOf(context, id, { limit: 1 });
  if (leases.length > 0) return undefined;
  const begun: Transition = startRemoval(data, planOfRecord(steps, data), at);
  return { transition: begun, writes: transitionWrites(id, version, data, begun, at) };
}

/**
 * It is being stopped for its removal, and nothing runs that could finish that. What is left waits only for the caller's
 * machine.
 */
async function stoppedAgain(
  context: Context,
  steps: readonly AnyStep[],
  found: StoredBootstrap,
  at: string,
): Promise<Update | undefined> {
  const leases = await leasesOf(context, found.id);
  if (leases.some((lease) => read(lease, liftLease)?.data.state !== 'client')) return undefined;
  return stop(context, steps, found, found.data, at, []);
}
