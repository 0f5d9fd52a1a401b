/** What a bootstrap costs, estimated from dated prices. The API's views contain it, and the command line shows it. */
import * as z from 'zod';
import { text } from '../api.js';

/** An amount is missing if any part of it has no price. `unknown` then names the part. */
const amount = (description: string, example: number) =>
  z
    .number()
    .nonnegative()
    .optional()
    .meta({ description, examples: [example] });

export const CostEstimate = z
  .object({
    currency: text('ISO 4217', 'USD'),
    pricesAsOf: z.iso
      .date()
      .meta({ description: 'The day the prices are of; of several days, the earliest', examples: ['2026-11-01'] }),
    perHour: amount('While it stands as it is, or is expected to stand', 3.1),
    soFar: amount('From when each thing was made until now, or until the project was removed', 1.2),
    untilExpiry: amount('In all, when it is removed at its time', 6.2),
    savedBySpot: amount('So far, by VMs that are spot or preemptible ones, against standard ones', 0),
    savedBySpotUntilExpiry: amount('In all, when it is removed at its time', 0),
    unknown: z
      .array(z.string())
      .meta({ description: 'What the prices do not know; with any, no amount is told', examples: [[]] }),
    notes: z
      .array(z.string())
      .optional()
      .meta({
        description: 'What to know of the prices: those that are old, and what is left out',
        examples: [['the prices of disks are of 2024-03-06, more than two years old']],
      }),
  })
  .meta({ id: 'CostEstimate', description: 'What it costs, as an estimate from dated prices' });
export type CostEstimate = z.infer<typeof CostEstimate>;
