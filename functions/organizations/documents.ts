/**
 * What the organization API stores, and under which ids. An address stands in a field; in an id stands its hash, because
 * Firestore forbids some addresses there.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { OrganizationEvent, Role } from '../../shared/organization/organization.js';
import { TeamId } from '../../shared/organization/team.js';
import { lift } from '../store/lift.js';

const time = z.iso.datetime();

/** `organizations/{id}`: never written again, so that no two requests meet in it. */
export const OrganizationRecord = z.object({
  schema: z.literal(1),
  id: z.uuid(),
  name: z.string(),
  createdAt: time,
});
export type OrganizationRecord = z.infer<typeof OrganizationRecord>;

/** `organizationMembers/{organizationId}~{address}`. */
export const OrganizationMemberRecord = z.object({
  schema: z.literal(1),
  organizationId: z.uuid(),
  email: z.string(),
  role: Role,
  /** An admin who is not leaving: what the last-admin rule counts. */
  governs: z.boolean(),
  addedAt: time,
  /** The removal that is under way: teams and migrations take the member for gone. */
  leaving: z.string().optional(),
});
export type OrganizationMemberRecord = z.infer<typeof OrganizationMemberRecord>;

/** `teams/{teamId}`. */
export const TeamRecord = z.object({
  schema: z.literal(1),
  teamId: TeamId,
  name: z.string(),
  organizationId: z.uuid().nullable(),
  createdAt: time,
  /** Raised by every change of its members: equal numbers, equal members. */
  changes: z.int(),
  /** How many of the members are admins. */
  admins: z.int(),
});
export type TeamRecord = z.infer<typeof TeamRecord>;

/** `teamMembers/{teamId}~{address}`. */
export const TeamMemberRecord = z.object({
  schema: z.literal(1),
  teamId: TeamId,
  email: z.string(),
  role: Role,
  addedAt: time,
});
export type TeamMemberRecord = z.infer<typeof TeamMemberRecord>;

/** `organizationEvents/{organizationId or team}~{id}`: written in the transaction of what it tells. */
export const EventRecord = OrganizationEvent.extend({
  schema: z.literal(1),
  /** Null: of a standalone team; for the record alone. */
  organizationId: z.uuid().nullable(),
  /** Of a migration: the members that stayed, once; `before` and `after` are shown with them. */
  stayed: z.array(z.object({ email: z.string(), role: Role })).optional(),
});
export type EventRecord = z.infer<typeof EventRecord>;

export const liftOrganization = lift('organization', OrganizationRecord, 1);
export const liftOrganizationMember = lift('organization member', OrganizationMemberRecord, 1);
export const liftTeam = lift('team', TeamRecord, 1);
export const liftTeamMember = lift('team member', TeamMemberRecord, 1);
export const liftEvent = lift('event of an organization', EventRecord, 1);

const address = (email: string): string => createHash('sha256').update(email).digest('base64url');

/** Ids of documents are stored for ever. */
export const organizationMemberId = (organizationId: string, email: string): string =>
  `${organizationId}~${address(email)}`;
export const teamDocumentId = (teamId: number): string => String(teamId);
export const teamMemberId = (teamId: number, email: string): string => `${teamId}~${address(email)}`;
