/** Whether organization policies in force allow the bootstrap. The step of the same name looks again. */

import { defineFinding, ok, stop } from '../../engine/finding.js';
import { lookAtPolicies } from '../../steps/cloud/policies.js';
import { refusal, warningOf } from '../../steps/cloud/policy-words.js';
import { parentIn } from '../../steps/cloud/project-place.js';
import { lastProject } from '../past.js';
import {
  domainIn,
  domainPolicyIn,
  domainRefusal,
  domainUnknown,
  elsewhereWarning,
  wasLastGiven,
} from './domain-policy.js';

export const policies = defineFinding({
  code: 'policies',
  title: 'Organization policies',
  why: 'Google refuses what a policy of the organization forbids.',
  by: 'check',
  about: ['folderId', 'region', 'zone', 'dnsProjectId', 'registryType', 'cloudAcmeIssuer'],
  async ask(asking) {
    const { context, intent } = asking;
    const output = await lookAtPolicies(context, intent, parentIn(context.config, intent.options));
    const domains = domainPolicyIn(output);
    if (domains === undefined || isUnmet(output)) return { output };
    const wasGiven = wasLastGiven(await lastProject(asking), intent.owner, domains);
    if (wasGiven !== undefined) return { output, domains, wasGiven };
    return { output, domains, isIn: await domainIn(asking, output.place, intent.owner) };
  },
  judge({ output, domains, wasGiven, isIn }, { owner }) {
    if (isUnmet(output)) return stop(refusal(output));
    const inForce = domains === undefined ? undefined : { owner, value: domains, place: output.place };
    if (inForce !== undefined && wasGiven === false) return stop(domainRefusal(inForce, 'google'));
    if (inForce !== undefined && isIn === false) return stop(domainRefusal(inForce, 'organizations'));
    const unknown = warningOf(output);
    if (unknown !== undefined) return { state: 'unknown', what: unknown };
    if (inForce === undefined || wasGiven === true || isIn === true)
      return ok(`${output.findings.length} policies checked in ${output.place}`);
    return isIn === 'elsewhere' ? elsewhereWarning(inForce) : domainUnknown(inForce);
  },
});

const isUnmet = ({ findings }: Awaited<ReturnType<typeof lookAtPolicies>>): boolean =>
  findings.some(({ state }) => state === 'unmet');
