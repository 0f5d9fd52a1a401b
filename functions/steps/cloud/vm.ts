/** Runs one virtual machine, with its addresses and the keys of those who may log in. */
import type * as z from 'zod';
import { Problem } from '../../../shared/problems.js';
import { again, type Outcome, type StepCall } from '../../engine/step.js';
import { machineKey } from '../config/machine-key.js';
import { teamKeys } from '../config/team-keys.js';
import { isPublic, vmSpec, vms } from '../topology.js';
import { cloudController } from './cloud-controller.js';
import { follow } from './following.js';
import { machineLogin } from './machine-login.js';
import { madeAt, stoppedAt } from './made-at.js';
import { VmOutput, type VmUnfinished } from './outputs.js';
import { quota } from './quota.js';
import { registryWriter } from './registry-writer.js';
import { defineProjectStep } from './settling.js';
import { stoppedOutput, stopVm } from './stop-vm.js';
import { subnet } from './subnet.js';
import { bootDiskName, dataDiskName, type Kind, metadataOf, provisioningOf, wantedInstance } from './vm-wanted.js';

const needs = { subnet, quota, cloudController, registryWriter, machineKey, machineLogin, teamKeys } as const;
export type VmCall = StepCall<typeof needs, typeof vms>;
type Compute = VmCall['context']['cloud']['compute'];
type Instance = NonNullable<Awaited<ReturnType<Compute['instance']>>>;

export const vm = defineProjectStep({
  name: 'vm',
  title: 'VM',
  lane: 'cloud',
  needs,
  holds: ['region', 'zone', 'spotVms', 'preemptible'],
  each: vms,
  describe: (options, key, machineAccess) => {
    const spec = vmSpec(options, key);
    const { machineType, dataDisks } = spec;
    const disks = [options.rootDiskSize, ...dataDisks].map((size) => `${size} GB`).join(' + ');
    const kind = options.spotVms ? ', spot' : options.preemptible ? ', preemptible' : '';
    return [
      `VM ${key}: ${machineType}${kind}, ${disks}, ${options.zone}${isPublic(spec, machineAccess) ? ', public address' : ''}`,
    ];
  },
  output: VmOutput,

  async observe(call) {
    const { options, machineAccess } = call.bootstrap;
    const spec = vmSpec(options, call.key);
    const found = await read(call);
    if (call.bootstrap.vmsStopped) return stoppedOutput(call, found);
    if (found?.status !== 'RUNNING' || changedMetadata(call, found) !== undefined || !hasTags(call, found)) {
      return undefined;
    }
    const [nic] = found.networkInterfaces ?? [];
    const internalIp = nic?.networkIP;
    const externalIp = nic?.accessConfigs?.[0]?.natIP;
    // They may appear later than the state RUNNING.
    if (!internalIp || (isPublic(spec, machineAccess) && !externalIp)) return undefined;
    return {
      name: call.key,
      zone: options.zone,
      machineType: spec.machineType,
      internalIp,
      ...(externalIp ? { externalIp } : {}),
      provisioning: provisioningOf(options, found.scheduling ?? {}),
      ...madeAt(found),
      ...stoppedAt(found),
    };
  },

  async run(call) {
    const found = await read(call);
    if (call.bootstrap.vmsStopped) return stopVm(call, found);
    if (found === undefined) return make(call);
    switch (found.status) {
      case 'RUNNING':
        return adjust(call, found);
      case 'TERMINATED':
      case 'STOPPED':
        return start(call, found);
      case 'SUSPENDED':
        throw new Problem('cloud-conflict', `The VM ${call.key} is suspended.`, {
          advice: `Resume or stop it (gcloud compute instances resume ${call.key} --zone ${call.bootstrap.options.zone} --project ${call.bootstrap.projectId}), then run the same command again.`,
        });
      case 'STOPPING':
      case 'PENDING_STOP':
      case 'SUSPENDING':
        return again(5, `the VM is ${found.status.toLowerCase()}, and is started then`);
      default:
        return again(2, `the VM is ${(found.status ?? 'on its way').toLowerCase()}`);
    }
  },

  async unfinished(call): Promise<z.infer<typeof VmUnfinished> | undefined> {
    const { options } = call.bootstrap;
    const { machineType } = vmSpec(options, call.key);
    const found = await readSettled(call);
    if (found !== undefined) {
      return { machineType, provisioning: provisioningOf(options, found.scheduling ?? {}), ...madeAt(found) };
    }
    const disks = await disksOf(call);
    const [first] = disks;
    if (first === undefined) return undefined;
    const diskGb = disks.reduce((sum, { sizeGb }) => sum + Number(sizeGb ?? 0), 0);
    return { machineType, provisioning: provisioningOf(options, {}), ...madeAt(first), diskGb };
  },

  goes: 'project',
  summary: ({ internalIp, externalIp, provisioning }) =>
    `${externalIp === undefined ? internalIp : `${internalIp}, ${externalIp}`}, ${
      provisioning === 'fallback' ? 'standard for want of spot capacity' : provisioning
    }`,
});

const place = ({ bootstrap: { projectId, options } }: VmCall) => [projectId, options.zone] as const;

const read = (call: VmCall): Promise<Instance | undefined> =>
  call.context.cloud.compute.instance(...place(call), call.key);

const onTheWay: readonly string[] = ['PROVISIONING', 'STAGING'];
/** Most VMs run, or have found no room, within this time. One that takes longer counts as if it came. */
const settlesWithinSeconds = 60;
const settlingSeconds = 5;

/** Once it is certain whether it comes. A VM that finds no room is gone then, although Google can leave its disks. */
async function readSettled(call: VmCall): Promise<Instance | undefined> {
  const { context, signal } = call;
  for (let waited = 0; ; waited += settlingSeconds) {
    const found = await read(call);
    if (!onTheWay.includes(found?.status ?? '') || waited >= settlesWithinSeconds) return found;
    await context.clock.wait(settlingSeconds, signal);
  }
}

const starting = 'the VM is starting';
/** No VM runs sooner, so an earlier look would waste a call. Few stockouts come sooner. */
const startsAfterSeconds = 15;

/** Requests the VM. If there is no capacity for a spot VM, requests a standard one. */
async function make(call: VmCall): Promise<Outcome> {
  const { spotVms, preemptible } = call.bootstrap.options;
  if (spotVms) {
    try {
      return await insert(call, 'spot');
    } catch (error) {
      if (!isStockout(error)) throw error;
    }
  }
  return insert(call, preemptible ? 'preemptible' : 'standard');
}

/**
 * A stockout comes late, as the end of the operation, and then the VM is gone. A repeated request with the same request id
 * returns that operation. Throws the stockout once no disk is left that would block the next request.
 */
async function insert(call: VmCall, kind: Kind): Promise<Outcome> {
  const { compute } = call.context.cloud;
  const request = call.requestId(`insert ${kind}`);
  try {
    const begun = await compute.createInstance(...place(call), wantedInstance(call, kind), request);
    return follow(begun, starting, startsAfterSeconds);
  } catch (error) {
    const cleaning = isStockout(error) ? await cleanDisks(call) : undefined;
    if (cleaning !== undefined) return cleaning;
    throw error;
  }
}

const isStockout = (error: unknown): boolean => error instanceof Problem && error.code === 'cloud-capacity';

/** The disks of the VM that exist. */
async function disksOf(call: VmCall) {
  const { dataDisks } = vmSpec(call.bootstrap.options, call.key);
  const names = [bootDiskName(call.key), ...dataDisks.map((_, index) => dataDiskName(call.key, index))];
  const disks = await Promise.all(names.map((name) => call.context.cloud.compute.disk(...place(call), name)));
  return disks.filter((disk) => disk !== undefined);
}

/** Deletes the disks that a failed insert has left. Undefined if there are none. */
async function cleanDisks(call: VmCall): Promise<Outcome | undefined> {
  const disks = await disksOf(call);
  for (const { name, id = '', users } of disks) {
    if ((users ?? []).length > 0) continue;
    const request = call.requestId(`delete ${name} ${id}`);
    const removal = await call.context.cloud.compute.removeDisk(...place(call), name, request);
    if (removal.failure !== undefined) throw removal.failure;
  }
  return disks.length === 0 ? undefined : again(3, 'the disks of the failed VM are being deleted');
}

/** Starts a stopped VM. A VM that never ran for lack of spot capacity is removed, and made as a standard one. */
async function start(call: VmCall, found: Instance): Promise<Outcome> {
  const { compute } = call.context.cloud;
  if (call.bootstrap.options.spotVms && found.id !== undefined) {
    const operations = await compute.operationsOn(
      call.bootstrap.projectId,
      { zone: call.bootstrap.options.zone },
      found.id,
    );
    if (operations.some(({ type, failure }) => type === 'insert' && isStockout(failure))) {
      const request = call.requestId(`delete ${found.id}`);
      const removal = await compute.removeInstance(...place(call), call.key, request);
      if (removal.failure !== undefined) throw removal.failure;
      return again(3, 'remains of the failed spot VM are being removed');
    }
  }
  // A start after another stop needs a new request id.
  const request = call.requestId(`start ${found.id ?? ''} ${found.lastStopTimestamp ?? ''}`);
  const begun = await compute.startInstance(...place(call), call.key, request);
  if (begun.failure !== undefined) throw begun.failure;
  return again(2, starting);
}

/** Updates keys, start-up script and tags of a running VM, so that former team members lose access. */
async function adjust(call: VmCall, found: Instance): Promise<Outcome> {
  const { compute } = call.context.cloud;
  const metadata = changedMetadata(call, found);
  if (metadata !== undefined) {
    const request = call.requestId(`metadata ${metadata.fingerprint ?? ''}`);
    return follow(
      await compute.setMetadata(...place(call), call.key, metadata, request),
      'the metadata is being written',
      1,
    );
  }
  if (!hasTags(call, found)) {
    const { fingerprint } = found.tags ?? {};
    const tags = { items: [...vmSpec(call.bootstrap.options, call.key).tags], ...(fingerprint ? { fingerprint } : {}) };
    const request = call.requestId(`tags ${fingerprint ?? ''}`);
    return follow(await compute.setTags(...place(call), call.key, tags, request), 'the tags are being written', 1);
  }
  return again(1, 'the VM runs, and waits for its addresses');
}

/** Undefined if nothing has to change. Entries of others are kept. */
function changedMetadata(call: VmCall, { metadata }: Instance) {
  const wanted = metadataOf(call);
  const items = metadata?.items ?? [];
  if (wanted.every(({ key, value }) => items.some((item) => item.key === key && item.value === value)))
    return undefined;
  const others = items.filter(({ key }) => !wanted.some((item) => item.key === key));
  return {
    ...(metadata?.fingerprint ? { fingerprint: metadata.fingerprint } : {}),
    items: [...others.map(({ key, value }) => ({ key, value })), ...wanted],
  };
}

const hasTags = (call: VmCall, { tags }: Instance): boolean =>
  vmSpec(call.bootstrap.options, call.key).tags.every((tag) => tags?.items?.includes(tag));
