/** Whether plinth takes new bootstraps, as operators see and switch it. The API and the CLI share this form. */
import * as z from 'zod';
import { moment, reason, text } from '../api.js';

/** `stopped`: new bootstraps are refused with the reason. Existing ones can still be resumed, extended and removed. */
export const AdmissionView = z
  .object({
    state: z.enum(['open', 'stopped']).meta({ description: 'Whether new ones are taken' }),
    by: text('Who switched it last; absent where nobody ever did', 'ops@example.com').optional(),
    at: moment('When it was switched last').optional(),
    reason: z.string().optional().meta({ description: 'Why new ones are stopped' }),
  })
  .meta({ id: 'Admission', description: 'Whether new bootstraps are taken; what stands goes on in either case' });
export type AdmissionView = z.infer<typeof AdmissionView>;

/** Shown to callers who are refused. */
export const AdmissionReason = reason('Why; shown to whoever is refused', 'Maintenance until noon');
