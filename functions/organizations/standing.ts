/** What a caller is in an organization or a team, and may do there. Asked by every operation, within its transaction if it changes anything. */

import { collections } from '../../shared/names.js';
import type { Role } from '../../shared/organization/organization.js';
import { Problem } from '../../shared/problems.js';
import type { Caller } from '../http/auth.js';
import { read } from '../store/lift.js';
import type { Data, Transaction } from '../store/store.js';
import {
  liftOrganizationMember,
  liftTeam,
  liftTeamMember,
  type OrganizationMemberRecord,
  organizationMemberId,
  type TeamMemberRecord,
  type TeamRecord,
  teamDocumentId,
  teamMemberId,
} from './documents.js';

/** A store, or a transaction. */
export type Reader = Pick<Transaction, 'get' | 'getMany'>;

/** By e-mail, each read once. */
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

export const readTeam = async (reader: Reader, teamId: number): Promise<TeamRecord | undefined> =>
  read(await reader.get(collections.teams, teamDocumentId(teamId)), liftTeam)?.data;

export interface Standing {
  /** Absent for an operator who is no member. */
  readonly role: Role | undefined;
  readonly admin: boolean;
}

/** What a caller may not see looks to them as if it were not there. */
export const noOrganization = (organizationId: string): Problem =>
  new Problem('not-found', `There is no organization ${organizationId}.`);
export const noTeam = (teamId: number): Problem => new Problem('not-found', `There is no team ${teamId}.`);

/** `member`: the caller's own document, if there is one. Throws the 404 for whom the organization is not to be seen by. */
export async function standingOf(
  reader: Reader,
  caller: Caller,
  organizationId: string,
  member: OrganizationMemberRecord | undefined,
): Promise<Standing> {
  if (member !== undefined) return { role: member.role, admin: caller.operator || member.governs };
  if (!caller.operator || (await reader.get(collections.organizations, organizationId)) === undefined) {
    throw noOrganization(organizationId);
  }
  return { role: undefined, admin: true };
}

export async function standingIn(reader: Reader, caller: Caller, organizationId: string): Promise<Standing> {
  const members = await readOrganizationMembers(reader, organizationId, [caller.email]);
  return standingOf(reader, caller, organizationId, members.get(caller.email));
}

export function checkAdmin({ admin }: Standing, of: 'organization' | 'team'): void {
  if (admin) return;
  throw new Problem(
    'forbidden',
    of === 'organization'
      ? 'Only an admin of the organization may do that.'
      : 'Only an admin of the team, or of its organization, may do that.',
    { advice: 'Ask one of its admins.' },
  );
}

/** `own`: the caller in the team; `governor`: in its organization, looked at only where the team alone does not say yes. */
export async function standingInTeam(
  caller: Caller,
  team: TeamRecord,
  own: TeamMemberRecord | undefined,
  governor: () => Promise<OrganizationMemberRecord | undefined>,
): Promise<Standing> {
  const standing = { role: own?.role, admin: caller.operator || own?.role === 'admin' };
  if (standing.admin || team.organizationId === null) {
    if (own === undefined && !standing.admin) throw noTeam(team.teamId);
    return standing;
  }
  const admin = (await governor())?.governs === true;
  if (own === undefined && !admin) throw noTeam(team.teamId);
  return { role: standing.role, admin };
}
