/** Whether organization policies in force allow the bootstrap. The step of the same name looks again. */
import { lookAtPolicies } from '../../steps/cloud/policies.js';
import { domainConstraint } from '../../steps/cloud/policy-table.js';
import { refusal, warningOf } from '../../steps/cloud/policy-words.js';
import { parentIn } from '../../steps/cloud/project-place.js';
import { defineFinding, ok, stop } from '../finding.js';
import { lastProject } from '../past.js';
import { domainPolicyIn, domainRefusal, wasLastGiven } from './domain-policy.js';

export const policies = defineFinding({
  code: 'policies',
  title: 'Organization policies',
  why: 'Google refuses what a policy of the organization forbids.',
  by: 'lane',
  about: ['folderId', 'region', 'zone', 'dnsProjectId', 'registryType', 'cloudAcmeIssuer'],
  async ask(asking) {
    const { context, intent } = asking;
    const output = await lookAtPolicies(context, intent, parentIn(context.config, intent.options));
    const domains = domainPolicyIn(output);
    const isGiven = domains === undefined || wasLastGiven(await lastProject(asking), intent.owner, domains);
    return { output, domains, isGiven };
  },
  judge({ output, domains = '', isGiven }, { owner }) {
    if (output.findings.some(({ state }) => state === 'unmet')) return stop(refusal(output));
    if (isGiven === false) return stop(domainRefusal(owner, domains, output.place));
    const unknown = warningOf(output);
    if (unknown !== undefined) return { state: 'unknown', what: unknown };
    if (isGiven === undefined) {
      return {
        state: 'unknown',
        what: `Google tells nobody whether ${domainConstraint} (${domains}) lets ${owner} have a role on the project`,
        mend: `Ask somebody with roles/orgpolicy.policyAdmin whether it allows your domain.`,
      };
    }
    return ok(`${output.findings.length} looked at in ${output.place}`);
  },
});
