/**
 * The documents that the organization API stores, and their ids. Firestore forbids some e-mail addresses in ids. So an id has
 * the hash of the address, and a field has the address.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { OrganizationEvent, Role } from '../../shared/organization/organization.js';
import { TeamId } from '../../shared/organization/team-id.js';
import { lift } from '../store/lift.js';

export {
  liftOrganization,
  liftTeam,
  OrganizationRecord,
  TeamRecord,
  teamDocumentId,
} from './records.js';

const time = z.iso.datetime();
/** Set while what the membership is of is deleted. */
const expireAt = time.optional();
/** The account that first changed something as this member: issuer and subject, separated by a blank. Never shown. */
const boundTo = z.string().optional();

/** `organizationMembers/{organizationId}~{address}`. */
export const OrganizationMemberRecord = z.object({
  schema: z.literal(1),
  organizationId: z.uuid(),
  email: z.string(),
  role: Role,
  boundTo,
  /** True for an admin who is not leaving. The last-admin rule counts these. Rights depend on the role alone. */
  governs: z.boolean(),
  addedAt: time,
  /** Starts at 1 and rises with each change. Continues where an earlier membership ended. */
  version: z.int(),
  /** The removal under way. Until it ends, no team accepts the member, and no migration treats them as an outsider. */
  leaving: z.string().optional(),
  /** When others may clear the mark, because its removal has died. */
  leavingUntil: time.optional(),
  expireAt,
});
export type OrganizationMemberRecord = z.infer<typeof OrganizationMemberRecord>;

/** `invitations/{organizationId}~{address}`. Written anew when they are invited again. */
export const InvitationRecord = z.object({
  schema: z.literal(1),
  organizationId: z.uuid(),
  email: z.string(),
  role: Role,
  invitedBy: z.string(),
  invitedAt: time,
  /** Afterwards it shows as expired, until `expireAt`. */
  expiresAt: time,
  expireAt: time,
});
export type InvitationRecord = z.infer<typeof InvitationRecord>;

/** `transfers/{teamId}~{the organization that it goes to, or standalone}`. */
export const TransferRecord = z.object({
  schema: z.literal(1),
  id: z.string(),
  teamId: TeamId,
  organizationId: z.uuid().nullable(),
  force: z.boolean(),
  proposedBy: z.string(),
  proposedAt: time,
  /** Afterwards nobody can accept it. Firestore removes it then. */
  expiresAt: time,
  expireAt: time,
});
export type TransferRecord = z.infer<typeof TransferRecord>;

/** `teamMembers/{teamId}~{address}`. */
export const TeamMemberRecord = z.object({
  schema: z.literal(1),
  teamId: TeamId,
  email: z.string(),
  role: Role,
  boundTo,
  addedAt: time,
  expireAt,
});
export type TeamMemberRecord = z.infer<typeof TeamMemberRecord>;

/** `organizationMemberVersions/{id of the member's document}`. Keeps the last version of a member who is gone. */
const MemberVersionRecord = z.object({ schema: z.literal(1), version: z.int() });

/** `organizationEvents/{organizationId or team}~{id}`. Written in the same transaction as the change. */
export const EventRecord = OrganizationEvent.extend({
  schema: z.literal(1),
  /** Null for a standalone team. Nothing shows such events. */
  organizationId: z.uuid().nullable(),
  /**
   * For a migration or a detachment: the members that stayed, stored once. They are merged into `before` and `after` when
   * shown.
   */
  stayed: z.array(z.object({ email: z.string(), role: Role })).optional(),
  /** For a migration: the accounts of `stayed`, then of the members in `before`. Null where none was bound. Never shown. */
  boundTo: z.array(z.string().nullable()).optional(),
  /** Any text, because a later release may add actions. */
  action: z.string(),
});
export type EventRecord = z.infer<typeof EventRecord>;

export const liftOrganizationMember = lift('organization member', OrganizationMemberRecord, 1);
export const liftMemberVersion = lift('version of a member', MemberVersionRecord, 1);
export const liftInvitation = lift('invitation', InvitationRecord, 1);
export const liftTransfer = lift('transfer', TransferRecord, 1);
export const liftTeamMember = lift('team member', TeamMemberRecord, 1);
export const liftEvent = lift('event of an organization', EventRecord, 1);

const address = (email: string): string => createHash('sha256').update(email).digest('base64url');

/** Stored ids never change. */
export const organizationMemberId = (organizationId: string, email: string): string =>
  `${organizationId}~${address(email)}`;
export const teamMemberId = (teamId: number, email: string): string => `${teamId}~${address(email)}`;
