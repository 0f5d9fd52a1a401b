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
/** The account that first changed something as this member: issuer and subject, with a blank in between. Never shown. */
const boundTo = z.string().optional();

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
  boundTo,
  /** An admin who is not leaving: what the last-admin rule counts. Rights go by the role. */
  governs: z.boolean(),
  addedAt: time,
  /** One more with each change, from 1; goes on where an earlier membership ended. Absent: from before it was counted. */
  version: z.int().optional(),
  /** The removal that is under way. Until it ends, no team takes the member, and none takes them for an outsider. */
  leaving: z.string().optional(),
  /** When others may undo the mark, for its removal has died. */
  leavingUntil: time.optional(),
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
  /** How many members there are, if `membersAt` equals `changes`: releases before 3.0.0 do not count. */
  members: z.int().optional(),
  membersAt: z.int().optional(),
  /**
   * Id of the document of the event by which it came into its organization; null for one that was made there. Absent: the events
   * of the organization tell.
   */
  migration: z.string().nullable().optional(),
});
export type TeamRecord = z.infer<typeof TeamRecord>;

/** `teamMembers/{teamId}~{address}`. */
export const TeamMemberRecord = z.object({
  schema: z.literal(1),
  teamId: TeamId,
  email: z.string(),
  role: Role,
  boundTo,
  addedAt: time,
});
export type TeamMemberRecord = z.infer<typeof TeamMemberRecord>;

/** `organizationMemberVersions/{id of the member's document}`: how far a member who is gone was counted. */
const MemberVersionRecord = z.object({ schema: z.literal(1), version: z.int() });

/** `organizationEvents/{organizationId or team}~{id}`: written in the transaction of what it tells. */
export const EventRecord = OrganizationEvent.extend({
  schema: z.literal(1),
  /** Null: of a standalone team; for the record alone. */
  organizationId: z.uuid().nullable(),
  /** Of a migration, or of its undoing: the members that stayed, once; `before` and `after` are shown with them. */
  stayed: z.array(z.object({ email: z.string(), role: Role })).optional(),
  /** Of a migration: the accounts of `stayed`, and then of those in `before`, null where none was bound. Never shown. */
  boundTo: z.array(z.string().nullable()).optional(),
  /** Also what a later release does. */
  action: z.string(),
});
export type EventRecord = z.infer<typeof EventRecord>;

export const liftOrganization = lift('organization', OrganizationRecord, 1);
export const liftOrganizationMember = lift('organization member', OrganizationMemberRecord, 1);
export const liftMemberVersion = lift('version of a member', MemberVersionRecord, 1);
export const liftTeam = lift('team', TeamRecord, 1);
export const liftTeamMember = lift('team member', TeamMemberRecord, 1);
export const liftEvent = lift('event of an organization', EventRecord, 1);

const address = (email: string): string => createHash('sha256').update(email).digest('base64url');

/** Ids of documents are stored for ever. */
export const organizationMemberId = (organizationId: string, email: string): string =>
  `${organizationId}~${address(email)}`;
export const teamDocumentId = (teamId: number): string => String(teamId);
export const teamMemberId = (teamId: number, email: string): string => `${teamId}~${address(email)}`;
