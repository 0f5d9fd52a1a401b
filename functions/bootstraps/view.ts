/** A bootstrap as its owner sees it: the record, the running instances according to the leases, and the result so far. */
import {
  type BootstrapResult,
  BootstrapSummary,
  type BootstrapView,
  type InstanceView,
} from '../../shared/bootstrap/bootstrap.js';
import type { Context } from '../context.js';
import { costOf } from '../cost/of-bootstrap.js';
import { type Instance, titleOf } from '../engine/plan.js';
import type { StoredBootstrap } from '../engine/record/documents.js';
import {
  type BootstrapRecord,
  type LeaseRecord,
  liftLease,
  loadBalancersOf,
  machineAccessOf,
  optionsOf,
} from '../engine/record/documents.js';
import { leasesOf } from '../engine/record/leases-of.js';
import { planOfRecord } from '../engine/record/plan-of-record.js';
import { removalPlanOf } from '../engine/record/removal-plan.js';
import type { AnyStep } from '../engine/step.js';
import { resultOf } from '../steps/result.js';
import { jumpboxName, tunnelTo } from '../steps/topology.js';
import { forecast, learntTimes } from './lifetime/forecast.js';

export async function viewOf(
  { store, clock, config }: Pick<Context, 'store' | 'clock' | 'config'>,
  steps: readonly AnyStep[],
  { id, data }: StoredBootstrap,
): Promise<BootstrapView> {
  const options = optionsOf(data);
  const ended = data.endedAt !== undefined;
  const found = ended ? [] : await leasesOf({ store }, id);
  const leases = new Map(found.map((document) => [String(document.data['instance']), liftLease(document.data)]));
  const outputs = Object.fromEntries(
    Object.entries(data.instances).flatMap(([instance, { output }]) =>
      output === undefined ? [] : [[instance, output]],
    ),
  );
  const project = outputs['project'] as { projectNumber?: string } | undefined;
  return {
    schema: 1,
    id,
    name: data.name,
    projectId: data.projectId,
    ...(project?.projectNumber === undefined ? {} : { projectNumber: project.projectNumber }),
    owner: data.owner,
    state: data.state,
    generation: data.generation,
    region: options.region,
    zone: options.zone,
    machineAccess: machineAccessOf(data),
    loadBalancers: loadBalancersOf(data),
    options: data.given,
    createdAt: data.createdAt,
    deadlineAt: data.deadlineAt,
    ...preparedOf(data),
    ...(data.protection === undefined ? {} : { protection: data.protection }),
    sharedWith: data.sharedWith ?? [],
    ...(data.team === undefined ? {} : { team: data.team }),
    ...(data.sharedTeams === undefined ? {} : { sharedWithTeams: data.sharedTeams }),
    ...(data.removal === undefined ? {} : { removal: data.removal }),
    ...vmsStoppedOf(data),
    ...(data.unplanned === undefined || data.state === 'removed' ? {} : { unplanned: data.unplanned }),
    cost: costOf(config.prices, data, clock.now()),
    ...(await forecastOf({ store, clock }, steps, data)),
    ...(data.warned === undefined || data.removal !== undefined ? {} : { expiryWarning: data.warned }),
    ...(data.endedAt === undefined ? {} : { endedAt: data.endedAt }),
    warnings: data.warnings,
    ...(data.problem === undefined ? {} : { problem: data.problem }),
    instances: instancesOf(steps, data).map((instance) =>
      instanceView(instance, data.instances[instance.id], leases.get(instance.id)),
    ),
    // Nothing of a removed bootstrap is left.
    result: withTunnel(data, resultOf(options, data.state === 'removed' ? {} : outputs)),
  };
}

const preparedOf = ({ prepared, unprepared }: BootstrapRecord): Pick<BootstrapView, 'prepared' | 'unprepared'> => ({
  ...(prepared === undefined ? {} : { prepared: prepared.since }),
  ...(unprepared === undefined ? {} : { unprepared }),
});

function vmsStoppedOf({ vmsStopped, state }: BootstrapRecord): Pick<BootstrapView, 'vmsStopped'> {
  if (vmsStopped === undefined || state === 'removed') return {};
  const { at, why, advice } = vmsStopped;
  return { vmsStopped: { at, why, advice } };
}

/** Only the jumpbox is reached by a tunnel. All others are behind it. */
function withTunnel(record: BootstrapRecord, result: BootstrapResult): BootstrapResult {
  if (machineAccessOf(record) === 'direct') return result;
  const vms = result.vms.map((vm) =>
    vm.name === jumpboxName ? { ...vm, tunnel: tunnelTo(record.projectId, vm) } : vm,
  );
  return { ...result, vms };
}

export const summaryOf = async (
  { store, clock, config }: Pick<Context, 'store' | 'clock' | 'config'>,
  steps: readonly AnyStep[],
  { id, data }: StoredBootstrap,
): Promise<BootstrapSummary> =>
  BootstrapSummary.parse({
    ...data,
    id,
    region: data.options['region'],
    sharedWith: data.sharedWith ?? [],
    sharedWithTeams: data.sharedTeams,
    vmsStopped: vmsStoppedOf(data).vmsStopped,
    cost: costOf(config.prices, data, clock.now()),
    ...(await forecastOf({ store, clock }, steps, data)),
    ...progressOf(steps, data),
  });

function progressOf(steps: readonly AnyStep[], record: BootstrapRecord): Pick<BootstrapSummary, 'progress'> {
  const { state, instances } = record;
  if (state !== 'running' && state !== 'cancelling' && state !== 'removing') return {};
  const plan = planOfRecord(steps, record);
  const [ids, end] =
    state === 'removing' ? ([removalPlanOf(plan).keys(), 'gone'] as const) : ([plan.keys(), 'done'] as const);
  const all = [...ids];
  return { progress: { done: all.filter((id) => instances[id]?.state === end).length, total: all.length } };
}

/** Only of what is on its way. */
export async function forecastOf(
  context: Pick<Context, 'store' | 'clock'>,
  steps: readonly AnyStep[],
  record: BootstrapRecord,
): Promise<Pick<BootstrapView, 'forecast'>> {
  if (record.state !== 'running') return {};
  const learnt = await learntTimes(context);
  return { forecast: forecast(planOfRecord(steps, record), learnt, context.clock.now(), record) };
}

/** A removal plan has one instance more. */
function instancesOf(steps: readonly AnyStep[], record: BootstrapRecord): Instance[] {
  const plan = planOfRecord(steps, record);
  const more = record.removal === undefined ? [] : [...removalPlanOf(plan).values()].filter(({ id }) => !plan.has(id));
  return [...plan.values(), ...more];
}

function instanceView(
  { id, step, key, needs }: Instance,
  record: StoredBootstrap['data']['instances'][string] | undefined,
  lease: LeaseRecord | undefined,
): InstanceView {
  const running = lease?.state === 'running';
  const failures = Object.values(lease?.failures ?? {}).reduce((sum, each) => sum + each, 0);
  const startedAt = lease?.startedAt ?? record?.startedAt;
  const note = running ? (lease.retry === undefined ? lease.note : `${lease.retry} (trying again)`) : record?.note;
  return {
    id,
    step: step.name,
    ...(key === '' ? {} : { key }),
    title: titleOf({ step, key }),
    state: running ? 'running' : (record?.state ?? 'waiting'),
    ...(note === undefined ? {} : { note }),
    attempt: lease === undefined ? (record?.attempt ?? 0) : failures,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(record?.endedAt === undefined ? {} : { endedAt: record.endedAt }),
    ...(record?.problem === undefined ? {} : { problem: record.problem }),
    lane: step.lane,
    needs: [...needs],
  };
}
