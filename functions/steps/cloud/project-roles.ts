/** Makes the role of the nodes, and grants it to their account. It takes away what earlier releases granted. */
import { done, type StepCall } from '../../engine/step.js';
import { accountIds } from '../topology.js';
import { cloudController } from './cloud-controller.js';
import { controllerRole, controllerRoleName } from './controller-role.js';
import { unlessThere } from './following.js';
import { RolesOutput } from './outputs.js';
import { defineProjectStep } from './settling.js';

/** Releases up to 2.113.0 granted these. They hold more than the cloud controller calls, and no firewall rules. */
const formerRoles = ['roles/compute.loadBalancerAdmin', 'roles/compute.networkViewer', 'roles/compute.viewer'];

const needs = { cloudController } as const;
type Call = StepCall<typeof needs, undefined>;
type FoundRole = Awaited<ReturnType<Call['context']['cloud']['iam']['role']>>;

function grantsOf({ bootstrap: { projectId }, needs }: Call) {
  const member = `serviceAccount:${needs.cloudController.email}`;
  return {
    wanted: [{ member, role: controllerRoleName(projectId) }],
    former: formerRoles.map((role) => ({ member, role })),
  };
}

export const projectRoles = defineProjectStep({
  name: 'project-roles',
  title: 'Roles of the nodes',
  lane: 'cloud',
  needs,
  describe: () => [`a role of what a cloud controller calls, for ${accountIds.cloudController} on the project`],
  output: RolesOutput,

  async observe(call) {
    const { cloud } = call.context;
    const { projectId } = call.bootstrap;
    const { wanted, former } = grantsOf(call);
    if (!isAsWanted(await cloud.iam.role(controllerRoleName(projectId)))) return undefined;
    const missing = await cloud.projects.policy(projectId).missing([...wanted, ...former]);
    const isGranted = missing.every(({ role }) => formerRoles.includes(role));
    return isGranted && missing.length === former.length
      ? { resource: `projects/${projectId}`, grants: wanted }
      : undefined;
  },

  async run(call) {
    const { iam, projects } = call.context.cloud;
    const { projectId } = call.bootstrap;
    const name = controllerRoleName(projectId);
    const found = await iam.role(name);
    if (found === undefined) {
      const made = iam.createRole(name, controllerRole).then(() => done);
      const outcome = await unlessThere(made, 'the role is not known everywhere yet');
      if (outcome !== done) return outcome;
    } else if (!isAsWanted(found)) {
      if (found.deleted === true) await iam.restoreRole(name);
      await iam.changeRole(name, controllerRole);
    }
    const { wanted, former } = grantsOf(call);
    const policy = projects.policy(projectId);
    await policy.grant(wanted, call.signal);
    await policy.revoke(former, call.signal);
    return done;
  },
  goes: 'project',
});

function isAsWanted(found: FoundRole): boolean {
  if (found === undefined || found.deleted === true || found.stage !== controllerRole.stage) return false;
  const { includedPermissions: holds = [] } = found;
  const { includedPermissions: wanted } = controllerRole;
  return holds.length === wanted.length && wanted.every((each) => holds.includes(each));
}
