/** What the bootstrap API knows of a caller: who they are, and what they may begin. `plinth doctor` shows it too. */
import * as z from 'zod';
import { text } from '../api.js';
import { AdmissionView } from './admission.js';
import { MachineAccess } from './bootstrap.js';

export const CallerView = z
  .object({
    email: text('Who the caller is, lower-cased', 'alice@example.com'),
    operator: z.boolean().meta({ description: 'May what admins may, everywhere', examples: [false] }),
    mayBootstrap: z.boolean().meta({ description: 'May begin bootstraps', examples: [true] }),
    living: z.int().meta({ description: 'Bootstraps of theirs that are not removed yet', examples: [1] }),
    livingLimit: z.int().meta({ description: 'How many of these they may have', examples: [5] }),
    admission: AdmissionView.pick({ state: true, reason: true }).meta({
      description: 'Whether new ones are taken at all; who stopped them is told to whoever is refused',
    }),
    // Missing in answers of earlier releases.
    machineAccess: MachineAccess.optional(),
  })
  .meta({ id: 'Caller', description: 'Who the caller is here, and what they may begin' });
export type CallerView = z.infer<typeof CallerView>;
