/** Shows, adds and removes the members of a team. */
import { collections } from '../../shared/names.js';
import type { Member, Role } from '../../shared/organization/organization.js';
import { mostTeamMembers } from '../../shared/organization/team.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { Clock } from '../host/clock.js';
import type { Caller } from '../identity/auth.js';
import type { Transaction, Write } from '../store/store.js';
import {
  liftTeamMember,
  type OrganizationMemberRecord,
  type TeamMemberRecord,
  type TeamRecord,
  teamDocumentId,
  teamMemberId,
} from './documents.js';
import { eventWrite } from './events.js';
import { stayWrites } from './leaving.js';
import { type Added, noMember, otherRole, viewOfMember } from './members.js';
import { bindWrites, boundFields } from './membership.js';
import { type Page, type Paged, pageOf } from './page.js';
import {
  checkAdmin,
  noTeam,
  type Reader,
  type Rights,
  readOrganizationMembers,
  readTeam,
  readTeamMembers,
  rightsInTeam,
} from './rights.js';
import { transactInTeam } from './transact.js';

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

/** Before any time. Sweep takes it at once. */
const atOnce = new Date(0).toISOString();

/**
 * Every change of a team's members makes this write. A transaction that depends on the members reads this document. If the
 * team has bootstraps, the same write asks for the roles on their projects to follow.
 */
export const teamChange = (
  team: TeamRecord,
  change: Partial<Omit<TeamRecord, 'schema' | 'teamId' | 'createdAt' | 'changes' | 'membersAt'>>,
  changes = 1,
): Write => ({
  kind: 'update',
  collection: collections.teams,
  id: teamDocumentId(team.teamId),
  data: {
    ...change,
    changes: team.changes + changes,
    membersAt: team.changes + changes,
    ...(team.holds === true && { rolesAt: atOnce }),
  },
});

const count = (role: Role): number => (role === 'admin' ? 1 : 0);

/** Undefined if an earlier release has changed the team since the last count. */
export const countedIn = ({ members, membersAt, changes }: TeamRecord, more: number): number | undefined =>
  members === undefined || membersAt !== changes ? undefined : members + more;

export const adminsIn = (members: readonly Member[]): number =>
  members.reduce((admins, { role }) => admins + count(role), 0);

/** Removes a member from a team. */
export const leaveWrites = (
  transaction: Transaction,
  team: TeamRecord,
  member: TeamMemberRecord,
  { actor, why }: { readonly actor: string; readonly why?: string | undefined },
): Write[] => [
  endOfTeamMember(team.teamId, member.email),
  teamChange(team, { admins: team.admins - count(member.role), members: countedIn(team, -1) }),
  eventWrite(transaction, {
    organizationId: team.organizationId,
    teamId: team.teamId,
    version: team.changes + 1,
    actor,
    action: 'team-member-removed',
    email: member.email,
    ...(why !== undefined && { why }),
    before: viewOfMember(member),
    after: null,
  }),
];

/** A team, and the caller's rights in it. Throws a 404 if the caller may not see the team. */
export async function visibleTeam(
  reader: Reader,
  caller: Caller,
  teamId: number,
): Promise<{ team: TeamRecord; rights: Rights }> {
  const [team, own] = await Promise.all([readTeam(reader, teamId), readTeamMembers(reader, teamId, [caller.email])]);
  if (team === undefined) throw noTeam(teamId);
  const { organizationId } = team;
  const rights = await rightsInTeam(caller, team, own.get(caller.email), async () =>
    organizationId === null
      ? undefined
      : (await readOrganizationMembers(reader, organizationId, [caller.email])).get(caller.email),
  );
  return { team, rights };
}

/** The members, by e-mail. */
export async function listTeamMembers(
  { store }: Context,
  caller: Caller,
  teamId: number,
  page: Page,
): Promise<Paged<Member>> {
  await visibleTeam(store, caller, teamId);
  const members = await pageOf(
    store,
    { collection: collections.teamMembers, where: [['teamId', '==', teamId]], orderBy: ['email', 'asc'] },
    page,
    liftTeamMember,
  );
  return { ...members, items: members.items.map(viewOfMember) };
}

/** Reads all that a change of one member depends on. */
export async function lookAt(transaction: Transaction, caller: Caller, teamId: number, email: string) {
  const team = await readTeam(transaction, teamId);
  if (team === undefined) throw noTeam(teamId);
  const { organizationId } = team;
  const both = [caller.email, email];
  const [own, inOrganization] = await Promise.all([
    readTeamMembers(transaction, teamId, both),
    organizationId === null
      ? new Map<string, OrganizationMemberRecord>()
      : readOrganizationMembers(transaction, organizationId, both),
  ]);
  const rights = await rightsInTeam(caller, team, own.get(caller.email), async () => inOrganization.get(caller.email));
  return {
    team,
    rights,
    member: own.get(email),
    organizationMember: inOrganization.get(email),
    bind: bindWrites(caller, own.get(caller.email), inOrganization.get(caller.email)),
  };
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

/**
 * The query is outside the transaction. That is safe: a concurrent change of the members writes the team, which the
 * transaction has read.
 */
export async function countMembers({ store }: Pick<Context, 'store'>, team: TeamRecord): Promise<number> {
  return countedIn(team, 0) ?? (await membersOfTeam({ store }, team.teamId)).length;
}

export const full = ({ teamId }: TeamRecord, members: number): Problem =>
  new Problem('conflict', `Team ${teamId} has ${members} members, and no team has more.`, {
    advice: `A team has at most ${mostTeamMembers} members. Remove one first, or make another team.`,
  });

export const addTeamMember = (
  context: Context,
  caller: Caller,
  teamId: number,
  { email, role }: Member,
): Promise<Added> =>
  transactInTeam(context, teamId, async (transaction) => {
    const found = await lookAt(transaction, caller, teamId, email);
    const { team, rights, member } = found;
    checkAdmin(rights, 'team');
    if (member?.role === role) return { member: { email, role }, added: false };
    if (member !== undefined) throw otherRole(member, 'Remove them from the team, then add them with the other role.');
    const belonging = belongingWrites(context.clock, team.organizationId, email, found.organizationMember);
    const members = await countMembers(context, team);
    if (members >= mostTeamMembers) throw full(team, members);
    transaction.write(
      ...belonging,
      ...found.bind,
      newTeamMember(
        teamId,
        email,
        role,
        context.clock.now().toISOString(),
        email === caller.email ? boundFields(caller) : {},
      ),
      teamChange(team, { admins: team.admins + count(role), members: members + 1 }),
      eventWrite(transaction, {
        organizationId: team.organizationId,
        teamId,
        version: team.changes + 1,
        actor: caller.email,
        action: 'team-member-added',
        email,
        before: null,
        after: { email, role },
      }),
    );
    return { member: { email, role }, added: true };
  });

const lastAdminOfTeam = (email: string, teamId: number): Problem =>
  new Problem('conflict', `${email} is the last admin of team ${teamId}.`, { advice: 'Add another admin first.' });

/** A standalone team keeps an admin. */
export const setTeamMemberRole = (
  context: Context,
  caller: Caller,
  teamId: number,
  { email, role }: Member,
): Promise<Member> =>
  transactInTeam(context, teamId, async (transaction) => {
    const { team, rights, member, bind } = await lookAt(transaction, caller, teamId, email);
    checkAdmin(rights, 'team');
    if (member === undefined) throw noMember(email);
    if (member.role === role) return { email, role };
    if (team.organizationId === null && role === 'member' && team.admins === 1) throw lastAdminOfTeam(email, teamId);
    transaction.write(
      ...bind,
      { kind: 'update', collection: collections.teamMembers, id: teamMemberId(teamId, email), data: { role } },
      teamChange(team, { admins: team.admins + count(role) - count(member.role), members: countedIn(team, 0) }),
      eventWrite(transaction, {
        organizationId: team.organizationId,
        teamId,
        version: team.changes + 1,
        actor: caller.email,
        action: 'team-member-role-changed',
        email,
        before: viewOfMember(member),
        after: { email, role },
      }),
    );
    return { email, role };
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
): Promise<void> =>
  transactInTeam(context, teamId, async (transaction) => {
    const { team, rights, member, bind } = await lookAt(transaction, caller, teamId, email);
    if (caller.email !== email) checkAdmin(rights, 'team');
    if (member === undefined) throw noMember(email);
    if (team.organizationId === null && member.role === 'admin' && team.admins === 1) {
      throw lastAdminOfTeam(email, teamId);
    }
    transaction.write(...leaveWrites(transaction, team, member, { actor: caller.email, why }), ...bind);
  });
