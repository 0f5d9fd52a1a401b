/** What bootstraps have cost, summed up. The API and the command line share this form. */
import * as z from 'zod';
import { text } from '../api.js';

export const costGroups = ['owner', 'team', 'project', 'day', 'month'] as const;
export const CostGroup = z.enum(costGroups, 'must be owner, team, project, day or month').meta({
  id: 'CostGroup',
  description: 'What one row stands for. Days and months are in UTC',
  examples: ['month'],
});
export type CostGroup = z.infer<typeof CostGroup>;

export const CostDay = z.iso.date('must be a day such as 2026-11-01');

const amount = text('In the currency, exact, with two to six decimals', '12.50');

export const CostsView = z
  .object({
    by: CostGroup,
    currency: text('ISO 4217', 'USD'),
    pricesAsOf: text('The day the prices are of; of several days, the earliest', '2026-11-01'),
    rows: z
      .array(
        z.object({
          key: text(
            'E-mail of the owner, number of the team (`-`: of no team), id of the project, day or month',
            '2026-11',
          ),
          name: z
            .string()
            .optional()
            .meta({ description: 'By project: its name', examples: ['my first'] }),
          owner: z
            .string()
            .optional()
            .meta({ description: 'By project: its owner', examples: ['alice@example.com'] }),
          bootstraps: z.int().meta({ description: 'How many it counts', examples: [2] }),
          amount,
        }),
      )
      .meta({ description: 'In the order of their keys. The amounts of all rows sum up to the total' }),
    total: amount,
    unknown: z
      .array(z.string())
      .meta({ description: 'What has no price. The bootstraps with it are in no amount', examples: [[]] }),
    notes: z.array(z.string()).meta({ description: 'What to know of the prices', examples: [[]] }),
  })
  .meta({ id: 'Costs', description: 'What bootstraps have cost so far, as an estimate from dated prices' });
export type CostsView = z.infer<typeof CostsView>;
