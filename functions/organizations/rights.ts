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
import { checkTheirs } from './membership.js';

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

export const readTeam = async (reader: Reader, teamId: number): Promise<TeamRecord | undefined> =>
  read(await reader.get(collections.teams, teamDocumentId(teamId)), liftTeam)?.data;

export interface Rights {
  /** Absent for an operator who is no member. */
  readonly role: Role | undefined;
  readonly admin: boolean;
}

/** What a caller may not see looks missing to them. */
export const noOrganization = (organizationId: string): Problem =>
  new Problem('not-found', `There is no organization ${organizationId}.`);
export const noTeam = (teamId: number): Problem => new Problem('not-found', `There is no team ${teamId}.`);

/**
 * `member` is the caller's own document, if any. Throws a 404 if the caller may not see the organization. Throws `NotTheirs`
 * if the membership belongs to another account with the same e-mail.
 */
export async function rightsOf(
  reader: Reader,
  caller: Caller,
  organizationId: string,
  member: OrganizationMemberRecord | undefined,
): Promise<Rights> {
  checkTheirs(member, caller, organizationId);
  if (member !== undefined) return { role: member.role, admin: caller.operator || member.role === 'admin' };
  if (!caller.operator || (await reader.get(collections.organizations, organizationId)) === undefined) {
    throw noOrganization(organizationId);
  }
  return { role: undefined, admin: true };
}

export async function rightsIn(reader: Reader, caller: Caller, organizationId: string): Promise<Rights> {
  const members = await readOrganizationMembers(reader, organizationId, [caller.email]);
  return rightsOf(reader, caller, organizationId, members.get(caller.email));
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
 * `own` is the caller in the team, and `inOrganization` the caller in the team's organization. If that membership belongs to
 * another account, this throws `NotTheirs` for the organization's teams too.
 */
export async function rightsInTeam(
  caller: Caller,
  team: TeamRecord,
  own: TeamMemberRecord | undefined,
  inOrganization: () => Promise<OrganizationMemberRecord | undefined>,
): Promise<Rights> {
  if (caller.operator) return { role: own?.role, admin: true };
  const member = team.organizationId === null ? undefined : await inOrganization();
  if (own === undefined && member?.role !== 'admin') throw noTeam(team.teamId);
  checkTheirs(own, caller, team.organizationId);
  checkTheirs(member, caller, team.organizationId);
  return { role: own?.role, admin: own?.role === 'admin' || member?.role === 'admin' };
}
