/**
 * Grants the owner, and the people the bootstrap is shared with, a role on the project, so that they can see it. Former owners
 * and people it is no longer shared with lose the role.
 */
import { Problem } from '../../../shared/problems.js';
import { done, type StepCall } from '../../engine/step.js';
import { RolesOutput } from './outputs.js';
import { project } from './project.js';
import { defineProjectStep } from './settling.js';

type Call = Pick<StepCall, 'context' | 'bootstrap'>;

const grantsOf = ({ context }: Call, members: readonly string[]) =>
  members.map((member) => ({ member, role: context.config.callerRole }));
const wanted = (call: Call) => grantsOf(call, [call.bootstrap.ownerMember, ...call.bootstrap.sharedMembers]);
const unwanted = (call: Call) => grantsOf(call, call.bootstrap.formerMembers);
const policyOf = ({ context, bootstrap }: Call) => context.cloud.projects.policy(bootstrap.projectId);

export const callerRole = defineProjectStep({
  name: 'caller-role',
  title: 'Role of the caller',
  lane: 'cloud',
  needs: { project },
  describe: () => ['role of the caller on the project'],
  output: RolesOutput,

  async observe(call) {
    const grants = wanted(call);
    const missing = new Set((await policyOf(call).missing([...grants, ...unwanted(call)])).map(({ member }) => member));
    const isAsWanted =
      grants.every(({ member }) => !missing.has(member)) && unwanted(call).every(({ member }) => missing.has(member));
    return isAsWanted ? { resource: `projects/${call.bootstrap.projectId}`, grants } : undefined;
  },

  async run(call) {
    const policy = policyOf(call);
    await policy.revoke(unwanted(call), call.signal);
    const refused: Problem[] = [];
    // One by one, so that an address unknown to Google keeps nobody else out.
    for (const grant of wanted(call)) {
      try {
        await policy.grant([grant], call.signal);
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'cloud-input') throw error;
        refused.push(refusal(call, grant.member, error));
      }
    }
    const [first] = refused;
    if (first !== undefined) throw first;
    return done;
  },
  goes: 'project',
  summary: ({ grants }) => grants.map(({ member, role }) => `${role} for ${member}`).join(', '),
});

const refusal = ({ bootstrap }: Call, member: string, error: Problem): Problem =>
  new Problem('cloud-conflict', error.detail, {
    advice:
      member === bootstrap.ownerMember
        ? `Check that ${member} is a Google account that may be given roles in this organization.`
        : `Check that ${member} is a Google account that may be given roles in this organization, or share it no more: plinth beta bootstrap-cloud share ${bootstrap.projectId} --with ${member.replace(/^\w+:/, '')} --remove`,
    cause: error,
  });
