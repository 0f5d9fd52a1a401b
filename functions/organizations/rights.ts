/**
 * A caller's role and rights in an organization or a team. Every operation checks them, and a change checks them within its
 * transaction.
 */

import { collections } from '../../shared/names.js';
import type { Role } from '../../shared/organization/organization.js';
import { Problem } from '../../shared/problems.js';
import type { Caller } from '../identity/auth.js';
import { read } from '../store/lift.js';
import type { Data, Transaction } from '../store/store.js';
import {
  liftOrganization,
  liftOrganizationMember,
  liftTeam,
  liftTeamMember,
  type OrganizationMemberRecord,
  type OrganizationRecord,
  organizationMemberId,
  type TeamMemberRecord,
  type TeamRecord,
  teamDocumentId,
  teamMemberId,
} from './documents.js';
import { checkTheirs } from './members/membership.js';

/** A store, or a transaction. */
export type Reader = Pick<Transaction, 'get' | 'getMany'>;

/** By e-mail. Reads each document once. */
async function readByEmail<T extends { readonly email: string }>(
  reader: Reader,
  collection: string,
  ids: readonly string[],
  lift: (data: Data) => T,
): Promise<ReadonlyMap<string, T>> {
  const found = await reader.getMany(collection, [...new Set(ids)]);
  return new Map(
    found.flatMap((each) => {
      const member = read(each, lift)?.data;
      return member === undefined ? [] : [[member.email, member]];
    }),
  );
}

export const readOrganizationMembers = (
  reader: Reader,
  organizationId: string,
  emails: readonly string[],
): Promise<ReadonlyMap<string, OrganizationMemberRecord>> =>
  readByEmail(
    reader,
    collections.organizationMembers,
    emails.map((email) => organizationMemberId(organizationId, email)),
    liftOrganizationMember,
  );

export const readTeamMembers = (
  reader: Reader,
  teamId: number,
  emails: readonly string[],
): Promise<ReadonlyMap<string, TeamMemberRecord>> =>
  readByEmail(
    reader,
    collections.teamMembers,
    emails.map((email) => teamMemberId(teamId, email)),
    liftTeamMember,
  );

export const readTeamWithDeleted = async (reader: Reader, teamId: number): Promise<TeamRecord | undefined> =>
  read(await reader.get(collections.teams, teamDocumentId(teamId)), liftTeam)?.data;

/** Undefined for a deleted team, too. */
export async function readTeam(reader: Reader, teamId: number): Promise<TeamRecord | undefined> {
  const team = await readTeamWithDeleted(reader, teamId);
  return team?.deletedAt === undefined ? team : undefined;
}

export const readOrganizationWithDeleted = async (
  reader: Reader,
  organizationId: string,
): Promise<OrganizationRecord | undefined> =>
  read(await reader.get(collections.organizations, organizationId), liftOrganization)?.data;

export interface Rights {
  /** Absent for an operator who is no member. */
  readonly role: Role | undefined;
  readonly admin: boolean;
}

/** What a caller may not see looks missing to them. */
const noOrganization = (organizationId: string): Problem =>
  new Problem('not-found', `There is no organization ${organizationId}.`);
export const noTeam = (teamId: number): Problem => new Problem('not-found', `There is no team ${teamId}.`);

/** An organization as the caller may see it. */
export interface SeenOrganization extends Rights {
  readonly organization: OrganizationRecord;
  /** Those asked for, by e-mail. */
  readonly members: ReadonlyMap<string, OrganizationMemberRecord>;
  /** The caller's own membership. */
  readonly own: OrganizationMemberRecord | undefined;
}

/** The same, deleted or not. */
export async function seeOrganizationWithDeleted(
  reader: Reader,
  caller: Caller,
  organizationId: string,
  emails: readonly string[] = [],
): Promise<SeenOrganization> {
  const [organization, members] = await Promise.all([
    readOrganizationWithDeleted(reader, organizationId),
    readOrganizationMembers(reader, organizationId, [caller.email, ...emails]),
  ]);
  const own = members.get(caller.email);
  checkTheirs(own, caller, organizationId);
  if (organization === undefined || (own === undefined && !caller.operator)) throw noOrganization(organizationId);
  return { organization, members, own, role: own?.role, admin: caller.operator || own?.role === 'admin' };
}

/**
 * Reads the organization, the caller's membership, and those of `emails`. Throws a 404 if the caller may not see the
 * organization, or if it is deleted. Throws `NotTheirs` if the membership belongs to another account with the same e-mail.
 */
export async function seeOrganization(
  ...asked: Parameters<typeof seeOrganizationWithDeleted>
): Promise<SeenOrganization> {
  const seen = await seeOrganizationWithDeleted(...asked);
  if (seen.organization.deletedAt !== undefined) throw noOrganization(seen.organization.id);
  return seen;
}

export function checkAdmin({ admin }: Rights, of: 'organization' | 'team'): void {
  if (admin) return;
  throw new Problem(
    'forbidden',
    of === 'organization'
      ? 'Only an admin of the organization may do that.'
      : 'Only an admin of the team, or of its organization, may do that.',
    { advice: 'Ask one of its admins.' },
  );
}

/** A deployment's settings name its operators. Nobody else passes. */
export function checkOperator({ operator }: Caller): void {
  if (operator) return;
  throw new Problem('forbidden', 'Only an operator of this deployment may do that.', { advice: 'Ask one of them.' });
}

/**
 * `own` is the caller in the team, and `governor` the caller in the team's organization. If that membership belongs to another
 * account, this throws `NotTheirs` for the organization's teams too.
 */
export function rightsInTeam(
  caller: Caller,
  team: TeamRecord,
  own: TeamMemberRecord | undefined,
  governor: OrganizationMemberRecord | undefined,
): Rights {
  if (caller.operator) return { role: own?.role, admin: true };
  const member = team.organizationId === null ? undefined : governor;
  if (own === undefined && member?.role !== 'admin') throw noTeam(team.teamId);
  checkTheirs(own, caller, team.organizationId);
  checkTheirs(member, caller, team.organizationId);
  return { role: own?.role, admin: own?.role === 'admin' || member?.role === 'admin' };
}

/** A team as the caller may see it. */
export interface SeenTeam extends Rights {
  readonly team: TeamRecord;
  /** Those asked for, by e-mail: in the team, and in its organization. */
  readonly members: ReadonlyMap<string, TeamMemberRecord>;
  readonly inOrganization: ReadonlyMap<string, OrganizationMemberRecord>;
  /** The caller's own memberships: in the team, and in its organization. */
  readonly own: TeamMemberRecord | undefined;
  readonly governor: OrganizationMemberRecord | undefined;
}

/** Throws a 404 if the caller may not see the team. */
export async function seeTeam(
  reader: Reader,
  caller: Caller,
  teamId: number,
  emails: readonly string[] = [],
): Promise<SeenTeam> {
  const all = [caller.email, ...emails];
  const [team, members] = await Promise.all([readTeam(reader, teamId), readTeamMembers(reader, teamId, all)]);
  if (team === undefined) throw noTeam(teamId);
  const inOrganization =
    team.organizationId === null
      ? new Map<string, OrganizationMemberRecord>()
      : await readOrganizationMembers(reader, team.organizationId, all);
  const [own, governor] = [members.get(caller.email), inOrganization.get(caller.email)];
  return { team, members, inOrganization, own, governor, ...rightsInTeam(caller, team, own, governor) };
}
