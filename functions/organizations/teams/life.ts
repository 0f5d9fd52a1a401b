/**
 * Renames, deletes and restores a team. A deleted team is in no organization. One that comes back into its organization comes
 * without the members who have left that organization meanwhile.
 */
import { collections } from '../../../shared/names.js';
import type { MigrationReply, Team } from '../../../shared/organization/team.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Caller } from '../../identity/auth.js';
import type { Transaction } from '../../store/store.js';
import { asTeamAdmin } from '../change.js';
import type { TeamRecord } from '../documents.js';
import { eventWrite } from '../events/events.js';
import { viewOfMember } from '../members/members.js';
import { bindWrites } from '../members/membership.js';
import { divideNow } from '../moves/move.js';
import { checkRestorable, deletedNow, expiryOfTeamMember } from '../restorable.js';
import {
  checkAdmin,
  noTeam,
  readOrganizationMembers,
  readOrganizationWithDeleted,
  readTeamMembers,
  readTeamWithDeleted,
  rightsInTeam,
} from '../rights.js';
import { transactInTeam } from '../transact.js';
import { adminsIn, endOfTeamMember, membersOfTeam, teamChange } from './documents.js';
import { viewOfTeam } from './teams.js';

export const renameTeam = (context: Context, caller: Caller, teamId: number, name: string): Promise<Team> =>
  transactInTeam(
    context,
    teamId,
    asTeamAdmin(caller, teamId, [], ({ team, role }) => {
      if (team.name === name) return { result: viewOfTeam(team, role) };
      const renamed = { ...team, name };
      return {
        result: viewOfTeam(renamed, role),
        team: { name },
        events: [
          {
            action: 'team-renamed',
            before: { team: viewOfTeam(team, undefined) },
            after: { team: viewOfTeam(renamed, undefined) },
          },
        ],
      };
    }),
  );

export const deleteTeam = (context: Context, caller: Caller, teamId: number): Promise<Team> =>
  transactInTeam(
    context,
    teamId,
    asTeamAdmin(caller, teamId, [], async ({ team, role }) => {
      const isCounted = (team.owns ?? 0) > 0;
      if (isCounted) await checkOwnsNone(context, team);
      const members = await membersOfTeam(context, teamId);
      const gone = deletedNow(context.clock);
      const change = {
        ...gone,
        organizationId: null,
        deletedFrom: team.organizationId,
        ...(isCounted && { owns: 0 }),
      };
      return {
        result: viewOfTeam({ ...team, ...change }, role),
        writes: members.map(({ email }) => expiryOfTeamMember(teamId, email, gone.expireAt)),
        team: { ...change, members: members.length },
        events: [
          {
            action: 'team-deleted',
            before: { team: viewOfTeam(team, undefined), members: members.map(viewOfMember) },
            after: null,
          },
        ],
      };
    }),
  );

const mostNamed = 10;

/**
 * The names are those at this moment. Whoever begins one writes the team, so what is not there does not come before the commit.
 * A record may be lost that the team is still counted for.
 */
async function checkOwnsNone({ store }: Context, { teamId }: TeamRecord): Promise<void> {
  const found = await store.query({ collection: collections.bootstraps, where: [['team', '==', teamId]] });
  const names = found.filter(({ data }) => data['state'] !== 'removed').map(({ data }) => String(data['name']));
  if (names.length === 0) return;
  const shown = names.sort().slice(0, mostNamed).join(', ');
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  throw new Problem('conflict', `Team ${teamId} still owns living bootstraps: ${shown}${more}.`, {
    advice: 'Remove them first, and delete the team when they are gone.',
    members: { bootstraps: names },
  });
}

/** For admins of the team, or of the organization that it was deleted in. A team that is not deleted stays as it is. */
export const restoreTeam = (context: Context, caller: Caller, teamId: number): Promise<MigrationReply> =>
  transactInTeam(context, teamId, async (transaction) => {
    const team = await readTeamWithDeleted(transaction, teamId);
    if (team === undefined) throw noTeam(teamId);
    const own = (await readTeamMembers(transaction, teamId, [caller.email])).get(caller.email);
    const organizationId = team.deletedAt === undefined ? team.organizationId : (team.deletedFrom ?? null);
    const governor =
      organizationId === null
        ? undefined
        : (await readOrganizationMembers(transaction, organizationId, [caller.email])).get(caller.email);
    // Who has left the organization since has no say in its team any more.
    if (organizationId !== null && governor === undefined && !caller.operator) throw noTeam(teamId);
    const rights = rightsInTeam(caller, { ...team, organizationId }, own, governor);
    checkAdmin(rights, 'team');
    if (team.deletedAt === undefined) return { team: viewOfTeam(team, rights.role), removedMembers: [] };
    checkRestorable(context.clock, team, `Team ${teamId}`);
    transaction.write(...bindWrites(caller, governor));
    return bringBack(context, transaction, caller, { ...team, organizationId });
  });

/** `team`: with the organization that it comes back into. */
async function bringBack(
  context: Context,
  transaction: Transaction,
  caller: Caller,
  team: TeamRecord,
): Promise<MigrationReply> {
  const { teamId, organizationId } = team;
  const members = await membersOfTeam(context, teamId);
  const destination = await destinationOf(transaction, team);
  const { stays, leaves } = await divideNow(context, transaction, destination, members);
  const { deletedAt: _, expireAt: __, deletedFrom: ___, ...restored } = team;
  const removedMembers = leaves.map(({ email }) => email);
  transaction.write(
    teamChange(team, {
      organizationId,
      ...{ deletedAt: undefined, expireAt: undefined, deletedFrom: undefined },
      admins: adminsIn(stays),
      members: stays.length,
    }),
    ...stays.map(({ email }) => expiryOfTeamMember(teamId, email)),
    ...removedMembers.map((email) => endOfTeamMember(teamId, email)),
    ...bindWrites(
      caller,
      stays.find(({ email }) => email === caller.email),
    ),
    eventWrite(transaction, {
      organizationId,
      teamId,
      version: team.changes + 1,
      actor: caller.email,
      action: 'team-restored',
      before: {
        team: viewOfTeam({ ...team, deletedFrom: organizationId }, undefined),
        members: leaves.map(viewOfMember),
      },
      after: { team: viewOfTeam(restored, undefined) },
      stayed: stays.map(viewOfMember),
    }),
  );
  const role = stays.find(({ email }) => email === caller.email)?.role;
  return { team: viewOfTeam(restored, role), removedMembers };
}

/** Null: the team stood alone. */
async function destinationOf(transaction: Transaction, { teamId, organizationId }: TeamRecord) {
  if (organizationId === null) return null;
  const organization = await readOrganizationWithDeleted(transaction, organizationId);
  if (organization !== undefined && organization.deletedAt === undefined) return { organization };
  throw new Problem('conflict', `Team ${teamId} was in organization ${organizationId}, which is deleted.`, {
    advice: 'Restore the organization first.',
  });
}
