/** The documents of teams and organizations themselves. What reads no more than these carries no other document with it. */
import * as z from 'zod';
import { Ceilings } from '../../shared/organization/ceilings.js';
import { TeamId } from '../../shared/organization/team-id.js';
import { lift } from '../store/lift.js';

const time = z.iso.datetime();
/** Once it is deleted. Until `expireAt` it can be restored. Then Firestore removes the document. */
const deletable = { deletedAt: time.optional(), expireAt: time.optional() };

/** `organizations/{id}`. Written when it is renamed, deleted or given ceilings, and by nothing else, so that requests don't contend for it. */
export const OrganizationRecord = z.object({
  schema: z.literal(1),
  id: z.uuid(),
  name: z.string(),
  createdAt: time,
  ceilings: Ceilings.optional(),
  /** The deletion under way. Until it ends, no team comes in. */
  deleting: z.string().optional(),
  /** When others may clear the mark, because its deletion has died. */
  deletingUntil: time.optional(),
  ...deletable,
});
export type OrganizationRecord = z.infer<typeof OrganizationRecord>;

/** `teams/{teamId}`. */
export const TeamRecord = z.object({
  schema: z.literal(1),
  teamId: TeamId,
  name: z.string(),
  organizationId: z.uuid().nullable(),
  createdAt: time,
  ceilings: Ceilings.optional(),
  /** Rises with every change of its members. Equal numbers mean equal members. */
  changes: z.int(),
  /** The number of admins among the members. */
  admins: z.int(),
  members: z.int(),
  /** The document id of the event that moved the team into its organization. Null for a team that was created there. */
  migration: z.string().nullable().optional(),
  /** How many living bootstraps it owns. Missing: none. */
  owns: z.int().optional(),
  /** True once a bootstrap belonged to it or was shared with it. From then on each change of its members sets `rolesAt`. */
  holds: z.literal(true).optional(),
  /** When sweep brings the roles on its bootstraps' projects in line with its members. Missing: they are. */
  rolesAt: time.optional(),
  ...deletable,
  /** The organization that the team was deleted in. While it is deleted, `organizationId` is null. */
  deletedFrom: z.uuid().nullable().optional(),
});
export type TeamRecord = z.infer<typeof TeamRecord>;

export const liftOrganization = lift('organization', OrganizationRecord, 1);
export const liftTeam = lift('team', TeamRecord, 1);

/** Stored ids never change. */
export const teamDocumentId = (teamId: number): string => String(teamId);
