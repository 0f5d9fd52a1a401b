/** How long a bootstrap will take from now on. The API's views contain it, and the command line shows it. */
import * as z from 'zod';

export const Forecast = z
  .object({
    p50Seconds: z.number().meta({ description: 'Half of those like it were done after this', examples: [480] }),
    p90Seconds: z.number().meta({ description: 'Nine in ten of those like it were', examples: [720] }),
    learntFrom: z.int().meta({
      description: 'Bootstraps of this deployment that this is learnt from; 0: it is a built-in estimate',
      examples: [12],
    }),
  })
  .meta({ id: 'Forecast', description: 'How long it takes from now on, along the longest chain of its plan' });
export type Forecast = z.infer<typeof Forecast>;
