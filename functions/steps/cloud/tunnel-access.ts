/**
 * Lets the function that works on machines open tunnels of Identity-Aware Proxy to the project's VMs. The firewall lets these
 * reach port 22 of the jumpbox alone.
 */
import type { MachineAccess } from '../../../shared/bootstrap/bootstrap.js';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { tunnelRole } from '../../../shared/iap.js';
import { functionAccountId, functionNames } from '../../../shared/names.js';
import { done, type StepCall } from '../../engine/step.js';
import { accountEmail } from '../topology.js';
import { apis } from './apis.js';
import { RolesOutput } from './outputs.js';
import { defineProjectStep } from './settling.js';

type Call = Pick<StepCall, 'context' | 'bootstrap'>;

const grantsOf = ({ context }: Call) => [
  {
    member: `serviceAccount:${accountEmail(functionAccountId(functionNames.runHostStep), context.config.project)}`,
    role: tunnelRole,
  },
];
const policyOf = ({ context, bootstrap }: Call) => context.cloud.projects.policy(bootstrap.projectId);

export const tunnelAccess = defineProjectStep({
  name: 'tunnel-access',
  title: 'Tunnel to the machines',
  lane: 'cloud',
  needs: { apis },
  when: (_options: BootstrapOptions, machineAccess: MachineAccess) => machineAccess === 'iap',
  describe: () => [`${tunnelRole} on the project, for the function of plinth that works on machines`],
  output: RolesOutput,

  async observe(call) {
    const grants = grantsOf(call);
    const missing = await policyOf(call).missing(grants);
    return missing.length === 0 ? { resource: `projects/${call.bootstrap.projectId}`, grants } : undefined;
  },

  async run(call) {
    await policyOf(call).grant(grantsOf(call), call.signal);
    return done;
  },
  goes: 'project',
});
