/** Checks that config and secrets have the values that only a person can give, before any part of an install begins. */
import * as z from 'zod';
import { Problem } from '../../../shared/problems.js';
import { defineStep, done } from '../../engine/step.js';
import { config } from '../config/config.js';
import { datacenterOf, datacenters } from '../topology.js';
import { needsPostgres } from './own-postgres.js';

export const installValues = defineStep({
  name: 'install-values',
  title: 'Values for the install',
  lane: 'cloud',
  needs: { config },
  when: needsPostgres,
  each: datacenters,
  describe: (options, key) => [
    `nothing: it looks whether config${datacenterOf(options, key).suffix}.yaml has all that an install needs`,
  ],
  output: z.object({ missing: z.tuple([]) }),
  observe: async ({ needs }) => (needs.config.missing.length === 0 ? { missing: [] } : undefined),
  async run({ needs, bootstrap, key }) {
    const { missing } = needs.config;
    if (missing.length === 0) return done;
    throw new Problem(
      'bad-input',
      `The install in datacenter ${datacenterOf(bootstrap.options, key).name} has not begun: it lacks ${missing.join(' and ')}.`,
      {
        advice:
          'Fill that in (config and secrets lie where --install-config and --secrets-file say, by default in your folder; sops opens the secrets), then run the same command again.',
      },
    );
  },
  goes: 'nothing',
});
