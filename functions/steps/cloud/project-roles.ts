/** Grants the nodes the roles in the project that a cloud controller needs, and no others. */
import { done } from '../../engine/step.js';
import { accountIds } from '../topology.js';
import { cloudController } from './cloud-controller.js';
import { RolesOutput } from './outputs.js';
import { defineProjectStep } from './settling.js';

const roles = ['roles/compute.loadBalancerAdmin', 'roles/compute.networkViewer', 'roles/compute.viewer'];
const grantsOf = (email: string) => roles.map((role) => ({ member: `serviceAccount:${email}`, role }));

export const projectRoles = defineProjectStep({
  name: 'project-roles',
  title: 'Roles of the nodes',
  lane: 'cloud',
  needs: { cloudController },
  describe: () => roles.map((role) => `${role} for ${accountIds.cloudController} on the project`),
  output: RolesOutput,

  async observe({ context, bootstrap: { projectId }, needs }) {
    const grants = grantsOf(needs.cloudController.email);
    const missing = await context.cloud.projects.policy(projectId).missing(grants);
    return missing.length === 0 ? { resource: `projects/${projectId}`, grants } : undefined;
  },

  async run({ context, bootstrap: { projectId }, needs, signal }) {
    await context.cloud.projects.policy(projectId).grant(grantsOf(needs.cloudController.email), signal);
    return done;
  },
  goes: 'project',
});
