/** Makes the role of the nodes, and grants it to their account. It takes away what earlier releases granted. */
import { done, type StepCall } from '../../engine/step.js';
import { accountIds } from '../topology.js';
import { cloudController } from './cloud-controller.js';
import { controllerRole, controllerRoleId } from './controller-role.js';
import { RolesOutput } from './outputs.js';
import { makeOwnRole, ownRoleStands } from './own-role.js';
import { defineProjectStep } from './settling.js';

/** Releases up to 2.113.0 granted these. They hold more than the cloud controller calls, and no firewall rules. */
const formerRoles = ['roles/compute.loadBalancerAdmin', 'roles/compute.networkViewer', 'roles/compute.viewer'];

const needs = { cloudController } as const;
type Call = StepCall<typeof needs, undefined>;

function grantsOf({ bootstrap: { projectId }, needs }: Call) {
  const member = `serviceAccount:${needs.cloudController.email}`;
  return {
    wanted: [{ member, role: `projects/${projectId}/roles/${controllerRoleId}` }],
    former: formerRoles.map((role) => ({ member, role })),
  };
}

export const projectRoles = defineProjectStep({
  name: 'project-roles',
  title: 'Roles of the nodes',
  lane: 'cloud',
  prepares: 'kept',
  needs,
  describe: () => [`a role of what a cloud controller calls, for ${accountIds.cloudController} on the project`],
  output: RolesOutput,

  async observe(call) {
    const { cloud } = call.context;
    const { projectId } = call.bootstrap;
    const { wanted, former } = grantsOf(call);
    if (!(await ownRoleStands(call, controllerRoleId, controllerRole(call.bootstrap.loadBalancers)))) return undefined;
    const missing = await cloud.projects.policy(projectId).missing([...wanted, ...former]);
    const isGranted = missing.every(({ role }) => formerRoles.includes(role));
    return isGranted && missing.length === former.length
      ? { resource: `projects/${projectId}`, grants: wanted }
      : undefined;
  },

  async run(call) {
    const { projects } = call.context.cloud;
    const { projectId } = call.bootstrap;
    const outcome = await makeOwnRole(call, controllerRoleId, controllerRole(call.bootstrap.loadBalancers));
    if (outcome.kind !== 'done') return outcome;
    const { wanted, former } = grantsOf(call);
    const policy = projects.policy(projectId);
    await policy.grant(wanted, call.signal);
    await policy.revoke(former, call.signal);
    return done;
  },
  goes: 'project',
});
