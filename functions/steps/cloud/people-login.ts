/**
 * Where machines are logged in to by OS Login: lets the owner and the people it is shared with log in with sudo, and act as the
 * accounts of VMs. Former people lose both.
 */
import { done, type StepCall } from '../../engine/step.js';
import { callerRole, ownersOf } from './caller-role.js';
import { cloudController } from './cloud-controller.js';
import { grantToPeople } from './grant-to-people.js';
import { accountPolicies, adminLoginRole } from './login-roles.js';
import { machineLogin } from './machine-login.js';
import { RolesOutput } from './outputs.js';
import { registryWriter } from './registry-writer.js';
import { defineProjectStep } from './settling.js';

const needs = { callerRole, machineLogin, cloudController, registryWriter } as const;
type Call = StepCall<typeof needs, undefined>;

const withRole = (members: readonly string[]) => members.map((member) => ({ member, role: adminLoginRole }));

/** The owner has the role whatever theirs on the project is, so the invited hold nothing by it that the owner lacks. */
function peopleOf({ bootstrap }: Call) {
  const { sharedMembers, formerMembers } = bootstrap;
  const people = [...ownersOf(bootstrap), ...sharedMembers];
  return { people, wanted: withRole(people), former: formerMembers, unwanted: withRole(formerMembers) };
}

const policyOf = ({ context, bootstrap }: Call) => context.cloud.projects.policy(bootstrap.projectId);

export const peopleLogin = defineProjectStep({
  name: 'people-login',
  title: 'Login of people',
  lane: 'cloud',
  needs,
  describe: () => [`with OS Login: ${adminLoginRole} for the caller and the invited on the project`],
  output: RolesOutput,

  async observe(call) {
    const resource = `projects/${call.bootstrap.projectId}`;
    if (call.needs.machineLogin.by === 'keys') return { resource, grants: [] };
    const { people, wanted, former, unwanted } = peopleOf(call);
    const accounts = accountPolicies(call);
    const [missing, spare, areAllowed, areForbidden] = await Promise.all([
      policyOf(call).missing(wanted),
      policyOf(call).missing(unwanted),
      accounts.areAllowed(people),
      accounts.areForbidden(former),
    ]);
    const isAsWanted = missing.length === 0 && spare.length === unwanted.length && areAllowed && areForbidden;
    return isAsWanted ? { resource, grants: wanted } : undefined;
  },

  async run(call) {
    if (call.needs.machineLogin.by === 'keys') return done;
    const { wanted, former, unwanted } = peopleOf(call);
    const accounts = accountPolicies(call);
    await policyOf(call).revoke(unwanted, call.signal);
    await accounts.forbid(former);
    await grantToPeople(call, wanted, async (grants) => {
      await policyOf(call).grant(grants, call.signal);
      await accounts.allow(grants.map(({ member }) => member));
    });
    return done;
  },
  goes: 'project',
  summary: ({ grants }) => grants.map(({ member, role }) => `${role} for ${member}`).join(', '),
});
