/** The documents of a team and its members: how they are read, made, changed and counted. */
import { collections } from '../../../shared/names.js';
import type { Member, Role } from '../../../shared/organization/organization.js';
import type { Context } from '../../context.js';
import type { Write } from '../../store/store.js';
import { liftTeamMember, type TeamMemberRecord, type TeamRecord, teamDocumentId, teamMemberId } from '../documents.js';

/** `bound` is for a caller who creates their own membership. */
export function newTeamMember(
  teamId: number,
  email: string,
  role: Role,
  addedAt: string,
  bound: { readonly boundTo?: string } = {},
): Write {
  const data: TeamMemberRecord = { schema: 1, teamId, email, role, ...bound, addedAt };
  return { kind: 'create', collection: collections.teamMembers, id: teamMemberId(teamId, email), data };
}

export const endOfTeamMember = (teamId: number, email: string): Write => ({
  kind: 'delete',
  collection: collections.teamMembers,
  id: teamMemberId(teamId, email),
});

/**
 * The members of a team, by e-mail. The query is outside of the transaction that has read the team. That is safe: a concurrent
 * change of the members writes the team.
 */
export async function membersOfTeam({ store }: Pick<Context, 'store'>, teamId: number): Promise<TeamMemberRecord[]> {
  const found = await store.query({
    collection: collections.teamMembers,
    where: [['teamId', '==', teamId]],
    orderBy: ['email', 'asc'],
  });
  return found.map(({ data }) => liftTeamMember(data));
}

/** What a change writes of a team beside its count of changes. */
export type TeamFields = Partial<Omit<TeamRecord, 'schema' | 'teamId' | 'createdAt' | 'changes'>>;

/** Before any time. Sweep takes it at once. */
const atOnce = new Date(0).toISOString();

/**
 * Every change of a team's members makes this write. A transaction that depends on the members reads this document. If the
 * team has bootstraps, the same write asks for the roles on their projects to follow.
 */
export const teamChange = (team: TeamRecord, change: TeamFields, changes = 1): Write => ({
  kind: 'update',
  collection: collections.teams,
  id: teamDocumentId(team.teamId),
  data: {
    ...change,
    changes: team.changes + changes,
    ...(team.holds === true && { rolesAt: atOnce }),
  },
});

/** How many admins one with this role is. */
export const countAdmin = (role: Role): number => (role === 'admin' ? 1 : 0);

export const adminsIn = (members: readonly Member[]): number =>
  members.reduce((admins, { role }) => admins + countAdmin(role), 0);
