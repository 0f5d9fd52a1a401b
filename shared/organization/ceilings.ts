/** What the bootstraps of a team may come to, or those of all teams of an organization. */
import * as z from 'zod';
import { AmountText } from '../bootstrap/money.js';

const mostLiving = 1_000_000;

/** A ceiling that is absent limits nothing. */
const fields = {
  living: z
    .int('must be a whole number')
    .min(0, 'must not be below 0')
    .max(mostLiving, `must be at most ${mostLiving}`)
    .optional()
    .meta({ description: 'How many bootstraps may live at once; absent: any number', examples: [5] }),
  usdPerMonth: AmountText.optional().meta({
    description: 'What they may cost in a calendar month of UTC, in USD; absent: any amount',
    examples: ['250.00'],
  }),
};

export const Ceilings = z
  .object(fields)
  .meta({ id: 'Ceilings', description: 'The most that the bootstraps of a team or an organization may come to' });
export type Ceilings = z.infer<typeof Ceilings>;

export const NewCeilings = z
  .strictObject(fields)
  .meta({ id: 'NewCeilings', description: 'The ceilings from now on. One that is left out is removed' });
