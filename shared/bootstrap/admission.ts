/** Whether new bootstraps are taken, as operators see and switch it. Spoken by the API and the CLI. */
import * as z from 'zod';
import { moment, reason, text } from '../api.js';

/** `stopped`: new ones are refused with the reason. What stands is resumed, extended and removed all the same. */
export const AdmissionView = z
  .object({
    state: z.enum(['open', 'stopped']).meta({ description: 'Whether new ones are taken' }),
    by: text('Who switched it last; absent where nobody ever did', 'ops@example.com').optional(),
    at: moment('When it was switched last').optional(),
    reason: z.string().optional().meta({ description: 'Why new ones are stopped' }),
  })
  .meta({ id: 'Admission', description: 'Whether new bootstraps are taken; what stands goes on in either case' });
export type AdmissionView = z.infer<typeof AdmissionView>;

/** Shown to whoever is refused. */
export const AdmissionReason = reason('Why; shown to whoever is refused', 'Maintenance until noon');
