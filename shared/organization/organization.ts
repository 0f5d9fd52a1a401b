/** Organizations and their members as the API shows them. */
import * as z from 'zod';
import { Email } from './email.js';

export const Role = z.enum(['admin', 'member'], 'must be admin or member');
export type Role = z.infer<typeof Role>;

/** Ids are compared lower-cased. */
export const OrganizationId = z.uuid('must be a UUID').toLowerCase();

/** What people call an organization or a team. */
export const Name = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(100, 'must have at most 100 characters')
  // Half a surrogate pair is no text that Firestore could keep.
  .refine((name) => !/[\p{Cc}\p{Cs}]/u.test(name), 'must hold no control characters');

export const Organization = z.object({
  id: z.uuid(),
  name: z.string(),
  /** The caller's own; absent for an operator who is no member. */
  role: Role.optional(),
  createdAt: z.iso.datetime(),
});
export type Organization = z.infer<typeof Organization>;

export const Member = z.object({ email: z.string(), role: Role });
export type Member = z.infer<typeof Member>;

export const NewOrganization = z.strictObject({ name: Name });
export const NewMember = z.strictObject({ email: Email, role: Role.default('member') });
export const NewRole = z.strictObject({ role: Role });

/** Who did what when; every removal and migration with what was before and after. */
export const OrganizationEvent = z.object({
  id: z.string(),
  at: z.iso.datetime(),
  actor: z.string(),
  action: z.enum([
    'organization-created',
    'member-added',
    'member-role-changed',
    'member-removed',
    'team-created',
    'team-member-added',
    'team-member-removed',
    'team-migrated',
  ]),
  /** The member concerned. */
  email: z.string().optional(),
  teamId: z.int().optional(),
  /** The state of what was changed, as the API shows it; null: it was not there. */
  before: z.unknown(),
  after: z.unknown(),
});
export type OrganizationEvent = z.infer<typeof OrganizationEvent>;
