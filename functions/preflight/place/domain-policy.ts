/**
 * Whether a policy of domains lets the owner have a role on their project. What Google said of the last owner of the same domain
 * counts, while the policy is the same. Before there is one, the organizations that plinth may see tell whose ids the policy
 * names.
 */
import type * as z from 'zod';
import { Problem } from '../../../shared/problems.js';
import { type Pausing, pastHiccup } from '../../cloud/hiccup.js';
import type { Cloud } from '../../cloud/index.js';
import type { EffectivePolicy } from '../../cloud/org-policy.js';
import type { Organization } from '../../cloud/organizations.js';
import type { Verdict } from '../../engine/finding.js';
import type { BootstrapRecord, InstanceRecord } from '../../engine/record/documents.js';
import { callerRole } from '../../steps/cloud/caller-role.js';
import { PoliciesOutput } from '../../steps/cloud/outputs.js';
import { policies } from '../../steps/cloud/policies.js';
import { allows, type Fits, isConditional } from '../../steps/cloud/policy-judge.js';
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

/** Accounts of nobody's organization: https://support.google.com/cloudidentity/answer/7319251 */
const ofNobody = ['gmail.com', 'googlemail.com'];

const namesOf = ({ name, directoryCustomerId }: Organization): readonly string[] => [
  directoryCustomerId,
  `principalSet://iam.googleapis.com/${name}`,
  `principalSet://cloudresourcemanager.googleapis.com/${name}`,
];

/**
 * Whether the policy in force for `place` lets the owner's domain in. `elsewhere`: it lets in none but organizations of which
 * the domain is not the primary one. It may still be another domain of theirs, which Google tells nobody here. Undefined: that
 * can't be told.
 */
export async function domainIn(
  asking: Seeing,
  place: string,
  owner: string,
): Promise<boolean | 'elsewhere' | undefined> {
  const domain = domainOf(owner).toLowerCase();
  const seen = await seenAtAll(asking);
  if (seen.length === 0 && !ofNobody.includes(domain)) return undefined;
  return judgeDomain(await asking.context.cloud.orgPolicy.effective(place, domainConstraint), seen, domain);
}

type Seeing = Pausing & { readonly context: { readonly cloud: Pick<Cloud, 'orgPolicy' | 'organizations'> } };

/** Customers and organizations, the values that name a domain's accounts. Of any other nobody here knows whom it lets in. */
const isKnownForm = (value: string): boolean =>
  /^C[0-9a-z]+$/i.test(value) ||
  /^principalSet:\/\/(?:iam|cloudresourcemanager)\.googleapis\.com\/organizations\/\d+$/.test(value);

/** What fails tells as little as seeing none. It leaves standing what else is found of policies. */
async function seenAtAll(asking: Seeing): Promise<readonly Organization[]> {
  try {
    return await pastHiccup(asking.context.cloud.organizations.seen, asking);
  } catch (error) {
    if (error instanceof Problem) return [];
    throw error;
  }
}

function judgeDomain(
  policy: EffectivePolicy,
  seen: readonly Organization[],
  domain: string,
): boolean | 'elsewhere' | undefined {
  if (isConditional(policy)) return undefined;
  const names = (organizations: readonly Organization[]): Fits => {
    const all = organizations.flatMap(namesOf);
    return (pattern) => {
      const value = pattern.replace(/^is:/, '');
      return all.includes(value) ? true : isKnownForm(value) ? false : undefined;
    };
  };
  if (ofNobody.includes(domain)) return allows(policy, names([]));
  const own = seen.find(({ displayName }) => displayName.toLowerCase() === domain);
  if (own !== undefined) return allows(policy, names([own]));
  const isSeen = names(seen);
  return allows(policy, (pattern) => (isSeen(pattern) ? false : undefined)) === false ? 'elsewhere' : undefined;
}

interface InForce {
  readonly owner: string;
  /** The policy, for people. */
  readonly value: string;
  readonly place: string;
}

/** `by`: who says so, Google of the last owner of the domain, or the organizations that plinth may see. */
export function domainRefusal({ owner, value, place }: InForce, by: 'google' | 'organizations'): Problem {
  const domain = domainOf(owner);
  const policy = `the organization policy ${domainConstraint} in force for ${place} (${value})`;
  const detail =
    by === 'google'
      ? `Google gave the last owner of ${domain} no role on their project, by ${policy}.`
      : `Nobody of ${domain} gets a role on a project, by ${policy}.`;
  return new Problem('cloud-policy', `${detail} So nothing was made.`, { advice: wayOut(domain) });
}

const wayOut = (domain: string): string =>
  `Begin it as somebody of a domain that the policy allows, or give another --folder-id. Somebody with roles/orgpolicy.policyAdmin on the organization may allow ${domain}, too.`;

export const elsewhereWarning = ({ owner, value, place }: InForce): Verdict => ({
  state: 'warning',
  what: `${domainConstraint} (${value}), in force for ${place}, lets in one organization's accounts, and ${domainOf(owner)} is not its primary domain. Unless it is another domain of theirs, ${owner} gets no role on the project, and the bootstrap fails there`,
  mend: wayOut(domainOf(owner)),
});

export const domainUnknown = ({ owner, value }: InForce): Verdict => ({
  state: 'unknown',
  what: `Google does not say whether ${domainConstraint} (${value}) lets ${owner} have a role on the project`,
  mend: 'Ask somebody with roles/orgpolicy.policyAdmin whether it allows your domain. With roles/resourcemanager.organizationViewer on the organization, run-cloud-step can compare the two.',
});
