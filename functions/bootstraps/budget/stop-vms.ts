/**
 * Stops the VMs of a bootstrap that came to cost more than it may. What is under way is cancelled first. Once nothing runs any
 * more, the VMs are looked at again, and the step `vm` stops them. The record says how far this is, so whoever finds it goes on.
 */
import { addSeconds } from '../../../shared/add-seconds.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { BootstrapRecord, InstanceRecord, StoredBootstrap } from '../../engine/record/documents.js';
import { type Leased, readyAgain, type Transition, transitionWrites } from '../../engine/record/transition.js';
import type { Update } from '../../engine/record/update.js';
import { afterHolders } from '../alter.js';
import { stop } from '../removal/stop.js';

/** A VM that could not be stopped is tried again after this time. */
const tryAgainSeconds = 3600;

type Parts = Pick<Context, 'store' | 'clock'>;

/** `record` has `vmsStopped`, and is what becomes of `found` beside that. `events` are told with it. */
export async function stopVms(
  context: Context,
  found: StoredBootstrap,
  record: BootstrapRecord,
  at: string,
  events: Transition['events'] = [],
): Promise<Update> {
  const { id, version, data } = found;
  if (data.state === 'running') {
    const state = { schema: 1, type: 'state', at, state: 'cancelling', generation: data.generation } as const;
    // Nothing begins while it is being cancelled, so no plan is needed.
    return stop(context, [], found, { ...record, state: 'cancelling', fuseAt: at }, at, [...events, { event: state }]);
  }
  if (data.state === 'cancelling') {
    const told = { record: { ...record, fuseAt: at }, ready: [], events };
    return { transition: told, writes: transitionWrites(id, version, data, told, at) };
  }
  return begun(context, found, record, at, events);
}

async function begun(
  context: Parts,
  { id, version, data }: StoredBootstrap,
  { vmsStopped, ...record }: BootstrapRecord,
  at: string,
  events: Transition['events'],
): Promise<Update> {
  const vms = Object.entries(data.instances).filter(([name, vm]) => mayRun(name, vm));
  const again = vms.filter(([, { state }]) => state !== 'ready');
  const ready = again.map(([name]): Leased => ({ id: name, lane: 'cloud' }));
  const told = {
    record: {
      ...record,
      ...(vmsStopped === undefined ? {} : { vmsStopped: { ...vmsStopped, begun: true as const } }),
      ...(vms.length === 0 ? {} : { fuseAt: addSeconds(new Date(at), tryAgainSeconds) }),
      instances: readyAgain(
        data.instances,
        again.map(([name]) => name),
      ),
    },
    ready,
    events,
  };
  return { transition: told, writes: await afterHolders(context, transitionWrites(id, version, data, told, at), at) };
}

const isVm = (name: string): boolean => name.startsWith('vm:');

const isStopped = ({ state, output }: InstanceRecord): boolean =>
  state === 'done' && (output as { stopped?: unknown } | undefined)?.stopped === true;

/** It was made, or was being made when it was cancelled. It is not known to be stopped or missing. */
const mayRun = (name: string, vm: InstanceRecord): boolean =>
  isVm(name) &&
  (vm.output !== undefined || vm.unfinished !== undefined || vm.startedAt !== undefined) &&
  !isStopped(vm) &&
  vm.problem?.code !== 'cloud-not-found';

/** A VM may still run, although all have been asked to stop. */
export const anyRuns = ({ instances }: BootstrapRecord): boolean =>
  Object.entries(instances).some(([name, vm]) => mayRun(name, vm));

/** Throws `conflict` while VMs are on their way down: what starts one now would be stopped again. */
export function refuseWhileStopping({ name, vmsStopped, instances }: BootstrapRecord): void {
  if (vmsStopped === undefined) return;
  const isOver =
    vmsStopped.begun === true && !Object.entries(instances).some(([id, { state }]) => isVm(id) && state === 'ready');
  if (isOver) return;
  throw new Problem('conflict', `The VMs of ${name} are being stopped: ${vmsStopped.why}`, {
    advice: 'Try again in a minute.',
    retryAfterSeconds: 20,
  });
}

/** The record when its VMs are started again. They cost from now on. */
export function startedAgain({ vmsStopped: _, pauses, ...record }: BootstrapRecord, at: string): BootstrapRecord {
  if (pauses === undefined) return record;
  return { ...record, pauses: pauses.map((pause) => ({ ...pause, until: pause.until ?? at })) };
}
