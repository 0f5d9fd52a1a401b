/**
 * Grants the owner a role on the project, and the people it is shared with a lesser one. Former owners and people it is no
 * longer shared with lose theirs.
 */
import { invitedRole } from '../../../shared/bootstrap/invited.js';
import { tunnelRole } from '../../../shared/iap.js';
import { type BootstrapFacts, done, type StepCall } from '../../engine/step.js';
import { grantToPeople } from './grant-to-people.js';
import { invitedRoleStands, makeInvitedRole } from './invited-role.js';
import { adminLoginPermissions } from './login-roles.js';
import { machineLogin } from './machine-login.js';
import { RolesOutput } from './outputs.js';
import { project } from './project.js';
import { defineProjectStep } from './settling.js';

interface Grant {
  readonly member: string;
  readonly role: string;
}
const needs = { project, machineLogin } as const;
type Call = StepCall<typeof needs, undefined>;

/** By IAP alone, machines are reached by who holds this role. roles/editor lacks it. */
const tunnelGrants = ({ machineAccess }: BootstrapFacts, members: readonly string[]): Grant[] =>
  machineAccess === 'iap' ? members.map((member) => ({ member, role: tunnelRole })) : [];

/** Nobody, if the owner has left the team that it belongs to. */
export const ownersOf = ({ ownerMember, ownerLeft }: BootstrapFacts): string[] =>
  ownerLeft === true ? [] : [ownerMember];

function wanted({ context, bootstrap }: Call): Grant[] {
  const { sharedMembers } = bootstrap;
  const owners = ownersOf(bootstrap);
  const role = invitedRole(bootstrap.projectId);
  return [
    ...owners.map((member) => ({ member, role: context.config.callerRole })),
    ...sharedMembers.map((member) => ({ member, role })),
    ...tunnelGrants(bootstrap, [...owners, ...sharedMembers]),
  ];
}

/** Nobody has the other role: an invited may have become the owner, and an owner may have become invited. */
function unwanted({ context, bootstrap }: Call): Grant[] {
  const { sharedMembers, formerMembers } = bootstrap;
  const owners = context.config.callerRole;
  const role = invitedRole(bootstrap.projectId);
  return [
    ...ownersOf(bootstrap).map((member) => ({ member, role })),
    ...sharedMembers.map((member) => ({ member, role: owners })),
    ...formerMembers.flatMap((member) => [
      { member, role: owners },
      { member, role },
    ]),
    ...tunnelGrants(bootstrap, formerMembers),
  ];
}
const policyOf = ({ context, bootstrap }: Call) => context.cloud.projects.policy(bootstrap.projectId);
const invites = ({ bootstrap }: Call): boolean => bootstrap.sharedMembers.length > 0;

/** What the owner holds besides the role that is a setting. */
const ownersMore = ({ needs: { machineLogin } }: Call): readonly string[] =>
  machineLogin.by === 'os-login' ? adminLoginPermissions : [];

export const callerRole = defineProjectStep({
  name: 'caller-role',
  title: 'Role of the caller',
  lane: 'cloud',
  needs,
  describe: () => ['role of the caller on the project'],
  output: RolesOutput,

  async observe(call) {
    const grants = wanted(call);
    const [missing, roleStands] = await Promise.all([
      policyOf(call).missing([...grants, ...unwanted(call)]),
      invites(call) ? invitedRoleStands(call, ownersMore(call)) : true,
    ]);
    const isMissing = ({ member, role }: Grant) => missing.some((each) => each.member === member && each.role === role);
    const isAsWanted = roleStands && !grants.some(isMissing) && unwanted(call).every(isMissing);
    return isAsWanted ? { resource: `projects/${call.bootstrap.projectId}`, grants } : undefined;
  },

  async run(call) {
    const policy = policyOf(call);
    await policy.revoke(unwanted(call), call.signal);
    const made = invites(call) ? await makeInvitedRole(call, ownersMore(call)) : done;
    if (made.kind !== 'done') return made;
    await grantToPeople(call, wanted(call), (grants) => policy.grant(grants, call.signal));
    return done;
  },
  goes: 'project',
  summary: ({ grants }) => grants.map(({ member, role }) => `${role} for ${member}`).join(', '),
});
