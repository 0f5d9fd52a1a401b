/** What is known before a bootstrap begins: the findings of a preflight. The API and the command line share this form. */
import * as z from 'zod';
import { moment, text } from '../api.js';
import { type ProblemCode, problemKinds } from '../problems.js';
import { CostEstimate } from './cost.js';
import { Forecast } from './forecast.js';
import { BootstrapRequest, Seen } from './request.js';

/** `stop`: the bootstrap would fail. `unknown`: nobody can know it yet, or it could not be asked now. */
export const findingStates = ['stop', 'warning', 'unknown', 'ok'] as const;
export type FindingState = (typeof findingStates)[number];

export const PreflightFinding = z
  .object({
    code: text('Stable name of what was looked at', 'billing-account'),
    title: text('For people', 'Billing account'),
    state: z.enum(findingStates).meta({
      description:
        '`stop`: the bootstrap would fail, and is refused. `unknown`: nobody can know it yet, or it could not be asked now',
      examples: ['ok'],
    }),
    what: text('What was found', 'open'),
    why: z.string().optional().meta({ description: 'Why it matters, or why it is not known' }),
    mend: z.string().optional().meta({ description: 'What to do about it, mostly a command' }),
    likely: z
      .object({
        state: z.enum(['ok', 'stop']).meta({ description: 'How it went there' }),
        at: moment('When that was'),
      })
      .optional()
      .meta({
        description:
          'Only with `unknown`: how it went with the last project beneath the same parent with the same billing account',
      }),
    problem: z
      .enum(Object.keys(problemKinds) as [ProblemCode, ...ProblemCode[]])
      .optional()
      .meta({ description: 'Only with `stop`: the problem that the bootstrap is refused with' }),
    errors: z
      .array(z.object({ path: text('The flag', '--region'), message: text('What is wrong', 'names no region') }))
      .optional()
      .meta({ description: 'The flags at fault' }),
  })
  .meta({ id: 'Finding', description: 'One thing that was looked at before a bootstrap begins' });
export type PreflightFinding = z.infer<typeof PreflightFinding>;

export const Beginning = z
  .object({
    vms: z.int().meta({ description: 'How many VMs', examples: [8] }),
    cost: CostEstimate.meta({ description: 'For its time to live, with spot VMs wherever they are asked for' }),
    forecast: Forecast,
    removedAt: moment('When its time is over, if it begins now'),
    hash: z
      .string()
      .optional()
      .meta({
        description: 'Hash of its plan, as a dry run tells it. Missing without an SSH public key',
        examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
      }),
  })
  .meta({ id: 'Beginning', description: 'What a new bootstrap would be: its size, price, time and end' });
export type Beginning = z.infer<typeof Beginning>;

export const PreflightReply = z
  .object({
    go: z.boolean().meta({ description: 'Whether nothing stops it', examples: [true] }),
    findings: z.array(PreflightFinding).meta({ description: 'All that was looked at, in reading order' }),
    beginning: Beginning.optional().meta({ description: 'Missing if something stops it, or if it stands already' }),
    seen: Seen.optional(),
  })
  .meta({ id: 'Preflight', description: 'Whether a bootstrap may begin, and what is known of it' });
export type PreflightReply = z.infer<typeof PreflightReply>;

const { options, sshPublicKey, strict, maxCost, team } = BootstrapRequest.shape;

export const PreflightRequest = z
  .strictObject({ options, sshPublicKey: sshPublicKey.optional(), strict, maxCost, team })
  .meta({
    id: 'PreflightRequest',
    description: 'A bootstrap that is not begun',
    examples: [
      {
        options: {
          projectName: 'my first',
          billingAccount: '012345-6789AB-CDEF01',
          baseDomain: 'example.com',
          forge1AppClientId: 'id',
          forge1AppClientSecret: 'a secret',
        },
      },
    ],
  });
export type PreflightRequest = z.infer<typeof PreflightRequest>;
