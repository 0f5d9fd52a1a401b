/** Whether the function `check` replies, and with the identity of the cloud steps. */
import { functionAccountId, functionNames } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import { defineFinding, ok, stop } from '../../engine/finding.js';
import { applyTerraform } from './mends.js';

export const checkFunction = defineFinding({
  code: 'function-check',
  title: 'Function check',
  why: 'It asks Google with the rights of the cloud steps, before a project is created.',
  by: 'check',
  about: [],
  ask: async ({ context: { config } }) => config.serviceAccount.split('@')[0] ?? '',
  judge(identity) {
    const expected = functionAccountId(functionNames.check);
    if (identity === 'default' || identity === expected) return ok('it answers');
    const what = `The function check runs as ${identity}, not as ${expected}.`;
    return stop(new Problem('unavailable', what, { advice: applyTerraform }));
  },
});
