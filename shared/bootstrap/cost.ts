/** What a bootstrap costs, as an estimate from dated prices: part of the views of the API, shown by the command line. */
import * as z from 'zod';

/** An amount is missing when something that belongs to it has no price: then `unknown` says what. */
const amount = (description: string) => z.number().nonnegative().optional().meta({ description });

export const CostEstimate = z.object({
  /** ISO 4217, such as USD. */
  currency: z.string(),
  /** The day the prices are of. */
  pricesAsOf: z.iso.date(),
  perHour: amount('While it stands as it is, or is expected to stand'),
  soFar: amount('From when each thing was made until now, or until the project was removed'),
  untilExpiry: amount('In all, when it is removed at its time'),
  savedBySpot: amount('So far, by VMs that are spot or preemptible ones, against standard ones'),
  savedBySpotUntilExpiry: amount('In all, when it is removed at its time'),
  unknown: z.array(z.string()).meta({ description: 'What the prices do not know; with any, no amount is told' }),
});
export type CostEstimate = z.infer<typeof CostEstimate>;
