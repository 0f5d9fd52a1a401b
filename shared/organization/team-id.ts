/** The number of a team. */
import * as z from 'zod';

/** Positive and below 2^31. Random, not sequential. */
export const TeamId = z
  .int()
  .min(1)
  .max(2 ** 31 - 1)
  .meta({ id: 'TeamId', description: 'Number of a team; random, not sequential', examples: [1571417718] });

/** The same in a path or a query. */
export const TeamIdText = z
  .string()
  .regex(/^[1-9]\d{0,9}$/, 'must be a positive integer')
  .transform(Number)
  .pipe(TeamId);
