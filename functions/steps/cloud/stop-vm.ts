/**
 * Stops a VM of a bootstrap that came to cost more than it may, and sees that it is stopped. The VM keeps its disks and its
 * internal address.
 */
import type * as z from 'zod';
import { labels } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import { findProofKey, isProof, labelValue } from '../../engine/proof.js';
import { again, done, type Outcome, type StepCall } from '../../engine/step.js';
import { vmSpec } from '../topology.js';
import { follow } from './following.js';
import { madeAt, stoppedAt } from './made-at.js';
import type { VmOutput } from './outputs.js';
import { findProject } from './project-place.js';
import { provisioningOf } from './vm-wanted.js';

type Call = Pick<StepCall, 'context' | 'bootstrap' | 'key' | 'requestId'>;
type Instance = NonNullable<Awaited<ReturnType<Call['context']['cloud']['compute']['instance']>>>;

/** Undefined while the VM is not down. */
export function stoppedOutput(call: Call, found: Instance | undefined): z.infer<typeof VmOutput> | undefined {
  const { options } = call.bootstrap;
  if (found === undefined || !['TERMINATED', 'STOPPED'].includes(found.status ?? '')) return undefined;
  return {
    name: call.key,
    zone: options.zone,
    machineType: vmSpec(options, call.key).machineType,
    internalIp: found.networkInterfaces?.[0]?.networkIP ?? '',
    provisioning: provisioningOf(options, found.scheduling ?? {}),
    ...madeAt(found),
    ...stoppedAt(found),
    stopped: true,
  };
}

/** Usual time of a stop: the guest shuts down in order. */
const stopsAfterSeconds = 20;

export async function stopVm(call: Call, found: Instance | undefined): Promise<Outcome> {
  const { bootstrap, context, key } = call;
  if (found === undefined) throw new Problem('cloud-not-found', `The VM ${key} is not there, so it was not stopped.`);
  switch (found.status) {
    case 'TERMINATED':
    case 'STOPPED':
      return done;
    case 'RUNNING':
    case 'SUSPENDED': {
      await refuseUnproven(call);
      // A stop after another start needs a new request id.
      const request = call.requestId(`stop ${found.id ?? ''} ${found.lastStopTimestamp ?? ''}`);
      const { projectId, options } = bootstrap;
      const begun = await context.cloud.compute.stopInstance(projectId, options.zone, key, request);
      return follow(begun, 'the VM is being stopped', stopsAfterSeconds);
    }
    default:
      return again(5, `the VM is ${(found.status ?? 'on its way').toLowerCase()}, and is stopped then`);
  }
}

/** The labels of the project must prove, by its number, that this bootstrap made it. Nothing else's machines are stopped. */
async function refuseUnproven({ context, bootstrap }: Call): Promise<void> {
  const project = await findProject({ context, bootstrap });
  const key = await findProofKey(context);
  const { labels: found = {}, name = '' } = project ?? {};
  const isOurs =
    project?.state === 'ACTIVE' &&
    key !== undefined &&
    found[labels.bootstrap] === labelValue(bootstrap.id) &&
    found[labels.deployment] === labelValue(context.config.deployment) &&
    isProof(key, found[labels.proof], {
      projectNumber: name.replace(/^projects\//, ''),
      bootstrapId: bootstrap.id,
      // As they are: an extension or a transfer may be on its way.
      owner: found[labels.owner] ?? '',
      expiry: found[labels.deleteAfter] ?? '',
    });
  if (isOurs) return;
  throw new Problem(
    'cloud-conflict',
    `The labels of the project ${bootstrap.projectId} do not prove that this bootstrap made it: its VMs are not stopped.`,
    {
      advice: `If it is yours, run the same command again: it writes the labels anew. Who changed them is in the project's audit log.`,
    },
  );
}
