/** Reads the SSH keys of the forge1 team. Each generation reads them anew, so that former members lose access. */
import * as z from 'zod';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import { defineStep, done } from '../../engine/step.js';
import { teamKeys as readTeamKeys } from './forge1.js';

export const teamKeys = defineStep({
  name: 'team-keys',
  title: 'SSH keys of the team',
  lane: 'cloud',
  needs: {},
  when: (options: BootstrapOptions) => options.forge1TeamOrg !== undefined && options.forge1TeamSlug !== undefined,
  describe: ({ forge1TeamOrg, forge1TeamSlug }) => [
    `public SSH keys of the members of ${forge1TeamOrg}/${forge1TeamSlug}, read from forge1`,
  ],
  output: z.object({ keys: z.array(z.string()) }),
  // The step only reads, so there is nothing to run. A team without keys gives an empty list.
  async observe({ context, bootstrap, secrets, signal }) {
    const { forge1TeamOrg = '', forge1TeamSlug = '' } = bootstrap.options;
    const token = (await secrets.caller())['forge1Pat'];
    if (token === undefined) {
      throw new Problem('bad-input', 'The keys of a forge1 team cannot be read without a token.', {
        errors: [{ path: '--forge1-pat', message: 'is needed with --forge1-team-org and --forge1-team-slug' }],
      });
    }
    const access = { apiUrl: context.config.forge1ApiUrl, token, signal };
    return { keys: await readTeamKeys(access, forge1TeamOrg, forge1TeamSlug) };
  },
  run: async () => done,
  goes: 'nothing',
  summary: ({ keys }) => `${keys.length} keys`,
});
