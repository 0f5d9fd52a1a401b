/**
 * Whether a policy of domains lets the owner have a role on their project. Its values are customer ids, which plinth has no
 * right to compare with a domain. So what Google said of the last owner of the same domain counts, while the policy is the same.
 */
import type * as z from 'zod';
import { Problem } from '../../../shared/problems.js';
import type { BootstrapRecord, InstanceRecord } from '../../engine/record/documents.js';
import { callerRole } from '../../steps/cloud/caller-role.js';
import { PoliciesOutput } from '../../steps/cloud/outputs.js';
import { policies } from '../../steps/cloud/policies.js';
import { domainConstraint } from '../../steps/cloud/policy-table.js';
import { newestWith } from '../past.js';

type Output = z.infer<typeof PoliciesOutput>;

/** The policy's value, if it leaves the owner to Google's judgement. */
export const domainPolicyIn = ({ findings }: Output): string | undefined =>
  findings.find(({ constraint, state }) => constraint === domainConstraint && state === 'later')?.value;

const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1);

/** Whether the newest owner of this domain got their role by this value of the policy. Undefined: there was none. */
export const wasLastGiven = (records: readonly BootstrapRecord[], owner: string, value: string): boolean | undefined =>
  newestWith(records, callerRole.name, (found, record) => {
    const then = PoliciesOutput.safeParse(record.instances[policies.name]?.output).data;
    if (then === undefined || domainPolicyIn(then) !== value) return undefined;
    return domainOf(record.owner) === domainOf(owner) ? wasGiven(found, record) : undefined;
  });

/** Those it is shared with may be refused, too. That says nothing of the owner. */
function wasGiven({ output, problem }: InstanceRecord, { ownerMember }: BootstrapRecord): boolean | undefined {
  if (output !== undefined) return true;
  return problem?.code === 'cloud-policy' && problem.members?.['member'] === ownerMember ? false : undefined;
}

export const domainRefusal = (owner: string, value: string, place: string): Problem =>
  new Problem(
    'cloud-policy',
    `Google gave the last owner of ${domainOf(owner)} no role on their project, by the organization policy ${domainConstraint} in force for ${place} (${value}). So nothing was made.`,
    {
      advice: `Begin it as somebody of a domain that the policy allows, or give another --folder-id. Somebody with roles/orgpolicy.policyAdmin on the organization may allow ${domainOf(owner)}, too.`,
    },
  );
