/** Shows, adds and removes the members of a team. */
import { collections } from '../../../shared/names.js';
import type { Member } from '../../../shared/organization/organization.js';
import { mostTeamMembers } from '../../../shared/organization/team.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Clock } from '../../host/clock.js';
import type { Caller } from '../../identity/auth.js';
import type { Write } from '../../store/store.js';
import { asSeer, asTeamAdmin, type TeamEffect } from '../change.js';
import {
  liftTeamMember,
  type OrganizationMemberRecord,
  type TeamMemberRecord,
  type TeamRecord,
  teamMemberId,
} from '../documents.js';
import { stayWrites } from '../members/leaving.js';
import { type Added, noMember, otherRole, viewOfMember } from '../members/members.js';
import { boundFields } from '../members/membership.js';
import { type Page, type Paged, pageOf } from '../page.js';
import { type SeenTeam, seeTeam } from '../rights.js';
import { transactInTeam } from '../transact.js';
import { adminsIn, countAdmin, endOfTeamMember, newTeamMember } from './documents.js';

/** The members, by e-mail. */
export async function listTeamMembers(
  { store }: Context,
  caller: Caller,
  teamId: number,
  page: Page,
): Promise<Paged<Member>> {
  await seeTeam(store, caller, teamId);
  const members = await pageOf(
    store,
    { collection: collections.teamMembers, where: [['teamId', '==', teamId]], orderBy: ['email', 'asc'] },
    page,
    liftTeamMember,
  );
  return { ...members, items: members.items.map(viewOfMember) };
}

/** A team in an organization takes only members of the organization who stay. Returns the writes that this needs. */
export function belongingWrites(
  clock: Clock,
  organizationId: string | null,
  email: string,
  member: OrganizationMemberRecord | undefined,
): Write[] {
  if (organizationId === null) return [];
  if (member !== undefined) return stayWrites(clock, member);
  throw new Problem('bad-input', `${email} is no member of the organization ${organizationId} that the team is in.`, {
    errors: [{ path: 'email', message: 'is no member of the organization that the team is in' }],
    advice: 'Add them to the organization first.',
  });
}

const full = ({ teamId, members }: TeamRecord): Problem =>
  new Problem('conflict', `Team ${teamId} has ${members} members, and no team has more.`, {
    advice: `A team has at most ${mostTeamMembers} members. Remove one first, or make another team.`,
  });

/** What becomes of a team by new members. */
export function additionsTo(
  { clock }: Pick<Context, 'clock'>,
  caller: Caller,
  { team, inOrganization }: SeenTeam,
  added: readonly Member[],
) {
  const { teamId, organizationId } = team;
  const belonging = added.flatMap(({ email }) =>
    belongingWrites(clock, organizationId, email, inOrganization.get(email)),
  );
  if (team.members + added.length > mostTeamMembers) throw full(team);
  const addedAt = clock.now().toISOString();
  return {
    writes: [
      ...belonging,
      ...added.map(({ email, role }) =>
        newTeamMember(teamId, email, role, addedAt, email === caller.email ? boundFields(caller) : {}),
      ),
    ],
    team: { admins: team.admins + adminsIn(added), members: team.members + added.length },
    events: added.map(
      ({ email, role }) => ({ action: 'team-member-added', email, before: null, after: { email, role } }) as const,
    ),
  };
}

export const addTeamMember = (
  context: Context,
  caller: Caller,
  teamId: number,
  { email, role }: Member,
): Promise<Added> =>
  transactInTeam(
    context,
    teamId,
    asTeamAdmin(caller, teamId, [email], (seen) => {
      const outcome = (added: boolean): Added => ({ member: { email, role }, added });
      const known = seen.members.get(email);
      if (known?.role === role) return { result: outcome(false) };
      if (known !== undefined) throw otherRole(known, 'Remove them from the team, then add them with the other role.');
      return { result: outcome(true), ...additionsTo(context, caller, seen, [{ email, role }]) };
    }),
  );

const lastAdminOfTeam = (email: string, teamId: number): Problem =>
  new Problem('conflict', `${email} is the last admin of team ${teamId}.`, { advice: 'Add another admin first.' });

/** A standalone team keeps an admin. */
export const setTeamMemberRole = (
  context: Context,
  caller: Caller,
  teamId: number,
  { email, role }: Member,
): Promise<Member> =>
  transactInTeam(
    context,
    teamId,
    asTeamAdmin(caller, teamId, [email], ({ team, members }) => {
      const member = members.get(email);
      if (member === undefined) throw noMember(email);
      if (member.role === role) return { result: { email, role } };
      if (team.organizationId === null && role === 'member' && team.admins === 1) throw lastAdminOfTeam(email, teamId);
      return {
        result: { email, role },
        writes: [
          { kind: 'update', collection: collections.teamMembers, id: teamMemberId(teamId, email), data: { role } },
        ],
        team: { admins: team.admins + countAdmin(role) - countAdmin(member.role) },
        events: [{ action: 'team-member-role-changed', email, before: viewOfMember(member), after: { email, role } }],
      };
    }),
  );

/** What becomes of a team that a member leaves. */
export const leave = (team: TeamRecord, member: TeamMemberRecord, why: string | undefined): TeamEffect<void> => ({
  result: undefined,
  writes: [endOfTeamMember(team.teamId, member.email)],
  team: { admins: team.admins - countAdmin(member.role), members: team.members - 1 },
  events: [
    {
      action: 'team-member-removed',
      email: member.email,
      ...(why !== undefined && { why }),
      before: viewOfMember(member),
      after: null,
    },
  ],
});

/**
 * Members may remove themselves, admins anybody. A standalone team keeps an admin. A team in an organization has the admins of
 * the organization.
 */
export const removeTeamMember = (
  context: Context,
  caller: Caller,
  teamId: number,
  { email, why }: { readonly email: string; readonly why?: string | undefined },
): Promise<void> => {
  const change = caller.email === email ? asSeer : asTeamAdmin;
  return transactInTeam(
    context,
    teamId,
    change(caller, teamId, [email], ({ team, members }) => {
      const member = members.get(email);
      if (member === undefined) throw noMember(email);
      if (team.organizationId === null && member.role === 'admin' && team.admins === 1) {
        throw lastAdminOfTeam(email, teamId);
      }
      return leave(team, member, why);
    }),
  );
};
