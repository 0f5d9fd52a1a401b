/** The caller's role on the project, so that they can see what was made for them. */
import { Problem } from '../../../shared/problems.js';
import { done, type StepCall } from '../../engine/step.js';
import { RolesOutput } from './outputs.js';
import { project } from './project.js';
import { defineProjectStep } from './settling.js';

const grantsOf = ({ context, bootstrap }: Pick<StepCall, 'context' | 'bootstrap'>) => [
  { member: bootstrap.ownerMember, role: context.config.callerRole },
];

export const callerRole = defineProjectStep({
  name: 'caller-role',
  title: 'Role of the caller',
  lane: 'cloud',
  needs: { project },
  describe: () => ['role of the caller on the project'],
  output: RolesOutput,

  async observe(call) {
    const { projectId } = call.bootstrap;
    const grants = grantsOf(call);
    const missing = await call.context.cloud.projects.policy(projectId).missing(grants);
    return missing.length === 0 ? { resource: `projects/${projectId}`, grants } : undefined;
  },

  async run(call) {
    try {
      await call.context.cloud.projects.policy(call.bootstrap.projectId).grant(grantsOf(call));
      return done;
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'cloud-input') throw error;
      throw new Problem('cloud-conflict', error.detail, {
        advice: `Check that ${call.bootstrap.ownerMember} is a Google account that may be given roles in this organization.`,
        cause: error,
      });
    }
  },
  goes: 'project',
  summary: ({ grants }) => grants.map(({ member, role }) => `${role} for ${member}`).join(', '),
});
