/** How the pools of prepared projects stand, as operators see it. The API and the CLI share this form. */
import * as z from 'zod';
import { moment, text } from '../api.js';

const PoolView = z
  .object({
    parent: text('Where its projects are', 'folders/123456789012'),
    billingAccount: text('What pays for them', '0123AB-4567CD-89EF01'),
    region: text('Region', 'europe-west4'),
    size: z.int().meta({ description: 'How many projects are to wait', examples: [5] }),
    free: z.int().meta({ description: 'How many wait, and may be claimed now', examples: [4] }),
    preparing: z.int().meta({ description: 'How many are being made or looked at', examples: [1] }),
    since: z.array(moment('When it was begun')).meta({
      description: 'When each of its projects was begun, those that are no longer free among them, oldest first',
    }),
    taken: z.int().meta({ description: 'How often a bootstrap took one', examples: [12] }),
    missed: z.int().meta({ description: 'How often a bootstrap found none', examples: [1] }),
    limits: z.record(z.string(), z.number()).meta({
      description: 'By metric, the lowest quota limit of the projects that wait, as Google granted it',
      examples: [{ CPUS: 72 }],
    }),
    drained: z.boolean().meta({ description: 'An operator drained it: nothing is made in it' }),
    rest: z
      .object({ until: moment('Its end'), why: text('What went wrong', 'Billing account failed: it is closed') })
      .optional()
      .meta({ description: 'Nothing is made for a while, because the last project failed' }),
  })
  .meta({ id: 'Pool', description: 'One pool of prepared projects' });

export const PoolsView = z
  .object({
    pools: z.array(PoolView).meta({ description: 'In the order of the setting' }),
    projects: z.int().meta({
      description: 'How many projects, and as many billing links, the pools hold now',
      examples: [5],
    }),
    bootstraps: z.int().meta({ description: 'How many bootstraps live beside them', examples: [20] }),
    share: z
      .number()
      .min(0)
      .max(1)
      .meta({
        description:
          'Their share of the projects and billing links that plinth holds. Google tells neither limit, so this is the share of what is used',
        examples: [0.2],
      }),
  })
  .meta({ id: 'Pools', description: 'All pools of prepared projects' });
export type PoolsView = z.infer<typeof PoolsView>;
