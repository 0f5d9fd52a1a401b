/** Whether new bootstraps are taken, as operators see and switch it. Spoken by the API and the CLI. */
import * as z from 'zod';

/** `stopped`: new ones are refused with the reason. What stands is resumed, extended and removed all the same. */
export const AdmissionView = z.object({
  state: z.enum(['open', 'stopped']),
  /** Who switched it last, and when; absent where nobody ever did. */
  by: z.string().optional(),
  at: z.iso.datetime().optional(),
  /** Why new ones are stopped. */
  reason: z.string().optional(),
});
export type AdmissionView = z.infer<typeof AdmissionView>;

/** Shown to whoever is refused. */
export const AdmissionReason = z.string().trim().min(1).max(200);
