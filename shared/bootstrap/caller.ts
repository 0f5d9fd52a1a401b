/** What the bootstrap API knows of a caller: who they are, and what they may begin. `plinth doctor` shows it too. */
import * as z from 'zod';
import { text } from '../api.js';
import { AdmissionView } from './admission.js';
import { MachineAccess } from './bootstrap.js';

/** By the settings of the deployment alone: Google is not asked. */
const MayUse = z
  .object({
    billingAccounts: z
      .array(z.string())
      .meta({ description: 'Billing accounts that this deployment names', examples: [['012345-6789AB-CDEF01']] }),
    parents: z
      .array(z.string())
      .meta({ description: 'Folders and organizations that it names', examples: [['folders/123456789012']] }),
    defaultParent: text('Where projects are made without a folder', 'folders/123456789012').optional(),
    dnsZones: z
      .array(z.string())
      .meta({ description: 'DNS zones that it names, as `<project>/<zone>`', examples: [['shared-dns/tool-testing']] }),
    longestSeconds: z
      .int()
      .optional()
      .meta({ description: 'Longest time to live that may be asked for', examples: [86400] }),
  })
  .meta({ id: 'MayUse', description: 'What a bootstrap of theirs may name here. Others may be taken, too' });

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
    machineAccess: MachineAccess,
    mayUse: MayUse.optional().meta({ description: 'Missing for those who may not bootstrap' }),
  })
  .meta({ id: 'Caller', description: 'Who the caller is here, and what they may begin' });
export type CallerView = z.infer<typeof CallerView>;
