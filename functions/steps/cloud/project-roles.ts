/** Makes the role of the nodes, and grants it to their account. */
import { done, type StepCall } from '../../engine/step.js';
import { accountIds } from '../topology.js';
import { cloudController } from './cloud-controller.js';
import { controllerRole, controllerRoleId } from './controller-role.js';
import { RolesOutput } from './outputs.js';
import { makeOwnRole, ownRoleStands } from './own-role.js';
import { defineProjectStep } from './settling.js';

const needs = { cloudController } as const;
type Call = StepCall<typeof needs, undefined>;

const grantsOf = ({ bootstrap: { projectId }, needs }: Call) => [
  { member: `serviceAccount:${needs.cloudController.email}`, role: `projects/${projectId}/roles/${controllerRoleId}` },
];

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
    const grants = grantsOf(call);
    if (!(await ownRoleStands(call, controllerRoleId, controllerRole(call.bootstrap.loadBalancers)))) return undefined;
    const missing = await cloud.projects.policy(projectId).missing(grants);
    return missing.length === 0 ? { resource: `projects/${projectId}`, grants } : undefined;
  },

  async run(call) {
    const { projects } = call.context.cloud;
    const { projectId } = call.bootstrap;
    const outcome = await makeOwnRole(call, controllerRoleId, controllerRole(call.bootstrap.loadBalancers));
    if (outcome.kind !== 'done') return outcome;
    await projects.policy(projectId).grant(grantsOf(call), call.signal);
    return done;
  },
  goes: 'project',
});
