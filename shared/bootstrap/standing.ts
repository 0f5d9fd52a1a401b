/** How a caller stands with the bootstrap API: who they are to it, and what they may begin. Spoken by the API and by `plinth doctor`. */
import * as z from 'zod';
import { AdmissionView } from './admission.js';

export const CallerStanding = z.object({
  email: z.string(),
  operator: z.boolean(),
  mayBootstrap: z.boolean(),
  /** Bootstraps of theirs that are not removed yet, and how many they may have. */
  living: z.int(),
  livingLimit: z.int(),
  /** Whether new ones are taken at all; who stopped them is told to whoever is refused. */
  admission: AdmissionView.pick({ state: true, reason: true }),
});
export type CallerStanding = z.infer<typeof CallerStanding>;
