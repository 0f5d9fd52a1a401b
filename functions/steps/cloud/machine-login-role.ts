/**
 * Where machines are logged in to by OS Login: lets the function of plinth that works on machines log in, with sudo. Google also
 * wants that it may act as the account of a VM.
 */
import { functionAccountId, functionNames } from '../../../shared/names.js';
import { done, type StepCall } from '../../engine/step.js';
import { accountEmail } from '../topology.js';
import { apis } from './apis.js';
import { cloudController } from './cloud-controller.js';
import { accountPolicies, adminLoginRole } from './login-roles.js';
import { machineLogin } from './machine-login.js';
import { RolesOutput } from './outputs.js';
import { registryWriter } from './registry-writer.js';
import { defineProjectStep } from './settling.js';

const needs = { apis, machineLogin, cloudController, registryWriter } as const;
type Call = StepCall<typeof needs, undefined>;

const grantsOf = ({ context, needs: { machineLogin } }: Call) => {
  const email = accountEmail(functionAccountId(functionNames.runHostStep), context.config.project);
  return machineLogin.by === 'keys' ? [] : [{ member: `serviceAccount:${email}`, role: adminLoginRole }];
};
const policyOf = ({ context, bootstrap }: Call) => context.cloud.projects.policy(bootstrap.projectId);
const membersOf = (call: Call): string[] => grantsOf(call).map(({ member }) => member);

export const machineLoginRole = defineProjectStep({
  name: 'machine-login-role',
  title: "plinth's login to machines",
  lane: 'cloud',
  needs,
  describe: () => [
    `with OS Login: ${adminLoginRole} on the project, for the function of plinth that works on machines`,
  ],
  output: RolesOutput,

  async observe(call) {
    const grants = grantsOf(call);
    const resource = `projects/${call.bootstrap.projectId}`;
    if (grants.length === 0) return { resource, grants };
    const missing = await policyOf(call).missing(grants);
    const areAllowed = await accountPolicies(call).areAllowed(membersOf(call));
    return missing.length === 0 && areAllowed ? { resource, grants } : undefined;
  },

  async run(call) {
    if (call.needs.machineLogin.by === 'keys') return done;
    await policyOf(call).grant(grantsOf(call), call.signal);
    await accountPolicies(call).allow(membersOf(call));
    return done;
  },
  goes: 'project',
});
