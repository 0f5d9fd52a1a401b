/** Creates teams and shows them. */
import { collections } from '../../../shared/names.js';
import type { Role } from '../../../shared/organization/organization.js';
import type { Team } from '../../../shared/organization/team.js';
import type { Context } from '../../context.js';
import type { Caller } from '../../identity/auth.js';
import { read } from '../../store/lift.js';
import type { Store } from '../../store/store.js';
import {
  liftOrganizationMember,
  liftTeam,
  liftTeamMember,
  organizationMemberId,
  type TeamRecord,
  teamDocumentId,
  teamMemberId,
} from '../documents.js';
import { eventWrite } from '../events/events.js';
import { bindWrites, boundFields, isTheirs } from '../members/membership.js';
import { openWrites } from '../organization-life.js';
import { type Page, type Paged, pageOf } from '../page.js';
import { isRestorable } from '../restorable.js';
import { checkAdmin, seeOrganization, seeTeam } from '../rights.js';
import { transact } from '../transact.js';
import { newTeamMember } from './documents.js';
import { belongingWrites } from './members.js';

/** A deleted team shows the organization that it was in. */
export const viewOfTeam = (
  { teamId, name, organizationId, deletedFrom, createdAt, ceilings, deletedAt }: TeamRecord,
  role: Role | undefined,
): Team => ({
  teamId,
  name,
  organizationId: deletedAt === undefined ? organizationId : (deletedFrom ?? null),
  ...(role === undefined ? {} : { role }),
  createdAt,
  ...(ceilings === undefined ? {} : { ceilings }),
  ...(deletedAt === undefined ? {} : { deletedAt }),
});

/** Creates a team with the caller as its first admin. In an organization the caller must be a member, even an operator. */
export const createTeam = (
  context: Context,
  caller: Caller,
  { name, organizationId = null }: { readonly name: string; readonly organizationId?: string | null | undefined },
): Promise<Team> =>
  transact(context, async (transaction) => {
    if (organizationId !== null) {
      const seen = await seeOrganization(transaction, caller, organizationId);
      checkAdmin(seen, 'organization');
      transaction.write(
        ...belongingWrites(context.clock, organizationId, caller.email, seen.own),
        ...openWrites(context.clock, seen.organization),
        ...bindWrites(caller, seen.own),
      );
    }
    // A new number for each run of the transaction, so that a taken number is no obstacle.
    const teamId = context.random.whole(1, 2 ** 31);
    // The event takes the time of this read. What it finds does not matter.
    await transaction.get(collections.teams, teamDocumentId(teamId));
    const createdAt = context.clock.now().toISOString();
    const team: TeamRecord = {
      schema: 1,
      teamId,
      name,
      organizationId,
      createdAt,
      changes: 1,
      admins: 1,
      members: 1,
      ...(organizationId !== null && { migration: null }),
    };
    transaction.write(
      { kind: 'create', collection: collections.teams, id: teamDocumentId(teamId), data: team },
      newTeamMember(teamId, caller.email, 'admin', createdAt, boundFields(caller)),
      eventWrite(transaction, {
        organizationId,
        teamId,
        version: team.changes,
        actor: caller.email,
        action: 'team-created',
        before: null,
        after: viewOfTeam(team, undefined),
      }),
    );
    return viewOfTeam(team, 'admin');
  });

/** The teams that the caller belongs to, by number. `deleted`: those that are deleted, instead of the living ones. */
export async function listTeams(
  { store, clock }: Context,
  caller: Caller,
  deleted: boolean,
  page: Page,
): Promise<Paged<Team>> {
  const { email } = caller;
  const memberships = await pageOf(
    store,
    { collection: collections.teamMembers, where: [['email', '==', email]], orderBy: ['teamId', 'asc'] },
    page,
    liftTeamMember,
  );
  const own = memberships.items.filter((each) => isTheirs(each, caller));
  const found = await store.getMany(
    collections.teams,
    own.map(({ teamId }) => teamDocumentId(teamId)),
  );
  const teams = found
    .flatMap((each) => read(each, liftTeam)?.data ?? [])
    .filter((team) => (deleted ? isRestorable(clock, team) : team.deletedAt === undefined));
  const roles = new Map(own.map(({ teamId, role }) => [teamId, role]));
  const others = await organizationsOfOthers(store, caller, teams);
  const items = teams
    .filter(({ organizationId }) => organizationId === null || !others.has(organizationId))
    .map((team) => viewOfTeam(team, roles.get(team.teamId)));
  return { ...memberships, items };
}

/** The organizations of these teams in which the caller's e-mail belongs to another account. */
async function organizationsOfOthers(
  store: Pick<Store, 'getMany'>,
  caller: Caller,
  teams: readonly TeamRecord[],
): Promise<ReadonlySet<string>> {
  const organizations = new Set(teams.flatMap(({ organizationId }) => organizationId ?? []));
  const found = await store.getMany(
    collections.organizationMembers,
    [...organizations].map((each) => organizationMemberId(each, caller.email)),
  );
  const members = found.flatMap((each) => read(each, liftOrganizationMember)?.data ?? []);
  return new Set(members.filter((each) => !isTheirs(each, caller)).map(({ organizationId }) => organizationId));
}

export async function getTeam({ store }: Context, caller: Caller, teamId: number): Promise<Team> {
  const { team, role } = await seeTeam(store, caller, teamId);
  return viewOfTeam(team, role);
}

/** By number, each with the caller's own role in it. */
export async function listOrganizationTeams(
  { store }: Context,
  caller: Caller,
  organizationId: string,
  page: Page,
): Promise<Paged<Team>> {
  await seeOrganization(store, caller, organizationId);
  const teams = await pageOf(
    store,
    { collection: collections.teams, where: [['organizationId', '==', organizationId]], orderBy: ['teamId', 'asc'] },
    page,
    liftTeam,
  );
  const own = await store.getMany(
    collections.teamMembers,
    teams.items.map(({ teamId }) => teamMemberId(teamId, caller.email)),
  );
  const roleIn = (i: number): Role | undefined => {
    const membership = read(own[i], liftTeamMember)?.data;
    return membership !== undefined && isTheirs(membership, caller) ? membership.role : undefined;
  };
  return { ...teams, items: teams.items.map((team, i) => viewOfTeam(team, roleIn(i))) };
}
