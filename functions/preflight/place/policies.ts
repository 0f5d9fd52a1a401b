/** Whether organization policies in force allow the bootstrap. The step of the same name looks again. */
import { lookAtPolicies } from '../../steps/cloud/policies.js';
import { refusal, warningOf } from '../../steps/cloud/policy-words.js';
import { parentIn } from '../../steps/cloud/project-place.js';
import { defineFinding, ok, stop } from '../finding.js';

export const policies = defineFinding({
  code: 'policies',
  title: 'Organization policies',
  why: 'Google refuses what a policy of the organization forbids.',
  by: 'lane',
  about: ['folderId', 'region', 'zone', 'dnsProjectId', 'registryType', 'cloudAcmeIssuer'],
  ask: ({ context, intent }) => lookAtPolicies(context, intent, parentIn(context.config, intent.options)),
  judge(output) {
    if (output.findings.some(({ state }) => state === 'unmet')) return stop(refusal(output));
    const unknown = warningOf(output);
    if (unknown !== undefined) return { state: 'unknown', what: unknown };
    return ok(`${output.findings.length} looked at in ${output.place}`);
  },
});
