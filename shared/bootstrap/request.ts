/**
 * The body of `POST /bootstraps`. It carries only the options that were given. The schema checks their form, and the rules
 * then report all invalid values at once.
 */
import * as z from 'zod';
import { ruled } from '../api.js';
import { TeamId } from '../organization/team-id.js';
import { seen } from '../plain-text.js';
import { AmountText } from './money.js';
import {
  type Flag,
  flagName,
  flagOf,
  type GivenOptions,
  isLocal,
  isSecret,
  type Option,
  optionNames,
} from './options.js';
import { PlanHash } from './plan.js';
import { uploadForm } from './upload.js';

const longestText = 4096;
const upload = seen(z.string().max(longestText).regex(uploadForm, 'must be the file as <name>@sha256:<hash>:<bytes>'));
const form = (flag: Flag): z.ZodType => {
  if (flag.file) return flag.kind === 'list' ? z.array(upload).max(100) : upload;
  switch (flag.kind) {
    case 'string':
      return z.string().max(longestText);
    case 'int':
      return z.number();
    case 'bool':
      return z.boolean();
    case 'list':
      return z.array(z.string().max(longestText)).max(100);
  }
};
/** The schema of an option's value in a request. */
export function fieldOf(option: Option): z.ZodType {
  const { file, help, schema, default: standard } = flagOf(option);
  const shown = Array.isArray(standard) ? standard.join(', ') : String(standard);
  const unlessGiven = standard === undefined ? '' : ` ${shown || 'None'} unless given.`;
  const parsed = form(flagOf(option));
  if (!file) ruled.set(parsed, schema);
  return parsed
    .optional()
    .meta({ description: `${flagName(option)}: ${help}${unlessGiven}`, ...(isSecret(option) && { writeOnly: true }) });
}

/** A Firestore document holds at most 1 MiB. A bootstrap's document holds its options twice, and all its state besides. */
const mostOptionsKiB = 64;
const jsonBytes = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value) ?? '').length;

/** What is wrong if all options together are too large. Undefined if they fit. */
function tooLarge(given: Readonly<Record<string, unknown>>): string | undefined {
  if (jsonBytes(given) <= mostOptionsKiB * 1024) return undefined;
  const largest = Object.entries(given)
    .map(([option, value]) => ({ option: option as Option, kib: Math.ceil(jsonBytes(value) / 1024) }))
    .sort((a, b) => b.kib - a.kib)
    .slice(0, 3)
    .map(({ option, kib }) => `${flagName(option)} (${kib} KiB)`);
  return `must be at most ${mostOptionsKiB} KiB in all; shorten the largest: ${largest.join(', ')}`;
}

/** Options by name. Only the form of their values is checked. */
const GivenOptionsForm = z
  .strictObject(
    Object.fromEntries(optionNames.filter((option) => !isLocal(option)).map((option) => [option, fieldOf(option)])),
  )
  .superRefine((given, { addIssue }) => {
    const message = tooLarge(given);
    if (message !== undefined) addIssue({ code: 'custom', message });
  }) as unknown as z.ZodType<GivenOptions>;

/** `<type> <base64> [comment]`. The stored key may omit the comment. */
const sshPublicKey = z
  .string()
  .max(16_384)
  .regex(
    /^(?:ssh-(?:rsa|ed25519)|ecdsa-sha2-nistp(?:256|384|521)|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com) [A-Za-z0-9+/]+={0,2}(?: [^\r\n]*)?$/,
    'must be one line: the type, the key in base64, and perhaps a comment',
  );

/** Each file has at most 400 KiB, so that all four files of two datacenters fit the body. */
const file = z.string().max(400 * 1024);
const standing = z
  .strictObject({
    config: file.optional().meta({ description: 'config.yaml' }),
    secrets: file.optional().meta({ description: 'The encrypted prod.vault.yaml' }),
  })
  .meta({ id: 'StandingFiles', description: 'The files of a datacenter' });

export const Seen = z
  .string()
  .regex(/^[0-9a-f]{32}$/, 'stands for no preflight')
  .meta({
    description:
      'Stands for a preflight that found nothing in the way. Within two minutes the same caller begins the same with it, without another round. Afterwards it is as if it were not there',
    examples: ['5f1d0c9b7a6e4d3c2b1a0f9e8d7c6b5a'],
  });

export const BootstrapRequest = z
  .strictObject({
    options: GivenOptionsForm.meta({
      id: 'BootstrapOptions',
      description: `The options that were given, secrets included; at most ${mostOptionsKiB} KiB in all. Some exclude or need others, as the flags do`,
      required: optionNames.filter((option) => flagOf(option).required),
    }),
    sshPublicKey: sshPublicKey.meta({ description: "Who may log in: the caller's public key" }),
    base: z
      .strictObject({ dc1: standing.optional(), dc2: standing.optional() })
      .optional()
      .meta({ description: 'What the caller holds of the same bootstrap, by datacenter: the base of a re-run' }),
    takeUp: z
      .string()
      .regex(/^b[a-z0-9]{15}$/, 'is no id of a bootstrap')
      .optional()
      .meta({
        description:
          'Id of a bootstrap of the caller whose record is lost, and whose files were recovered: it goes on with the project that it has made, in the team that its labels prove. Whoever is not in that team any more: 403',
      }),
    team: TeamId.optional().meta({
      description:
        'Number of the team that a new bootstrap belongs to; the caller must be a member. A resume keeps the team, and another one is a 400',
      examples: [42],
    }),
    strict: z.boolean().optional().meta({ description: 'Warnings are refusals' }),
    plan: PlanHash.optional(),
    seen: Seen.optional(),
    maxCost: AmountText.optional().meta({
      description:
        'The most that it may cost in all, in the currency of the prices. Its time to live becomes as short as that buys',
      examples: ['12.50'],
    }),
  })
  .meta({
    id: 'BootstrapRequest',
    description: 'A bootstrap to begin or to resume',
    examples: [
      {
        options: {
          projectName: 'my first',
          billingAccount: '012345-6789AB-CDEF01',
          baseDomain: 'example.com',
          forge1AppClientId: 'client-1',
          forge1AppClientSecret: 'a secret',
        },
        sshPublicKey: `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${'A'.repeat(43)} alice`,
      },
    ],
  });
export type BootstrapRequest = z.infer<typeof BootstrapRequest>;
