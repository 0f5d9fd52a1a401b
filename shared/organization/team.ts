/** Teams as the API shows them, and what a migration into an organization does or would do. */
import * as z from 'zod';
import { Member, Name, OrganizationId, Role } from './organization.js';

/** Positive and below 2^31; random, not sequential. */
export const TeamId = z
  .int()
  .min(1)
  .max(2 ** 31 - 1);

export const Team = z.object({
  teamId: TeamId,
  name: z.string(),
  /** Null: the team is standalone. */
  organizationId: z.uuid().nullable(),
  /** The caller's own role in the team, if they have one. */
  role: Role.optional(),
  createdAt: z.iso.datetime(),
});
export type Team = z.infer<typeof Team>;

export const NewTeam = z.strictObject({ name: Name, organizationId: OrganizationId.optional() });

export const Migration = z.strictObject({ organizationId: OrganizationId, force: z.boolean().default(false) });

export const MigrationReply = z.object({ team: Team, removedMembers: z.array(z.string()) });
export type MigrationReply = z.infer<typeof MigrationReply>;

/** What a migration would do now; its ETag, sent back in If-Match, makes sure that nothing has changed since. */
export const MigrationPreview = z.object({
  teamId: TeamId,
  organizationId: z.uuid(),
  stays: z.array(Member),
  /** Members outside the organization: without force they stop the migration, with force they leave the team. */
  leaves: z.array(Member),
  /** Why it would be refused, in words; empty: it would succeed without force. */
  blockers: z.array(z.string()),
});
export type MigrationPreview = z.infer<typeof MigrationPreview>;
