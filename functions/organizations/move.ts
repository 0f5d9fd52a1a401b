/** Moves a team that both sides agree on. Out of one organization and into another one are two events of one commit. */
import { collections } from '../../shared/names.js';
import type { MigrationReply } from '../../shared/organization/team.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { Caller } from '../identity/auth.js';
import type { Transaction } from '../store/store.js';
import { type TeamMemberRecord, type TeamRecord, teamMemberId } from './documents.js';
import { type EventWrite, eventWrite } from './events.js';
import { stayWrites } from './leaving.js';
import { viewOfMember } from './members.js';
import { accountsOf, checkOutsiders, checkSize, membersOfTeam } from './migration.js';
import { openWrites } from './organization-life.js';
import { readOrganizationMembers, readOrganizationWithDeleted } from './rights.js';
import { adminsIn, teamChange } from './team-members.js';
import { viewOfTeam } from './teams.js';

interface Move {
  readonly team: TeamRecord;
  /** Null: to stand alone. */
  readonly to: string | null;
  readonly force: boolean;
}

/** Writes nothing if it throws. */
export async function moveTeam(
  context: Context,
  transaction: Transaction,
  caller: Caller,
  { team, to, force }: Move,
): Promise<MigrationReply> {
  const { teamId } = team;
  const members = await membersOfTeam(context, teamId);
  const { stays, leaves } = await divided(context, transaction, to, members);
  if (to === null && adminsIn(stays) === 0) {
    throw new Problem('conflict', `Team ${teamId} has no admin, and a team that stands alone needs one.`, {
      advice: 'Add an admin to the team first.',
    });
  }
  if (to !== null && !force) checkOutsiders(teamId, to, leaves);
  const moved = { ...team, organizationId: to };
  const left = leftEvent(transaction, caller, team, members);
  const told = {
    ...{ teamId, actor: caller.email, version: team.changes + left.length + 1 },
    before: { team: viewOfTeam(team, undefined), members: leaves.map(viewOfMember) },
    after: { team: viewOfTeam(moved, undefined) },
    stayed: stays.map(viewOfMember),
    boundTo: accountsOf(members, [...stays, ...leaves]),
  };
  const arrived: EventWrite[] =
    to === null
      ? []
      : [eventWrite(transaction, { organizationId: to, action: 'team-migrated', ...told }, { nth: left.length })];
  for (const event of arrived) checkSize(event, teamId, members.length);
  const removedMembers = leaves.map(({ email }) => email);
  transaction.write(
    teamChange(
      team,
      { organizationId: to, migration: arrived[0]?.id, admins: adminsIn(stays), members: stays.length },
      left.length + arrived.length,
    ),
    ...removedMembers.map((email) => ({
      kind: 'delete' as const,
      collection: collections.teamMembers,
      id: teamMemberId(teamId, email),
    })),
    ...left,
    ...arrived,
  );
  const role = stays.find(({ email }) => email === caller.email)?.role;
  return { team: viewOfTeam(moved, role), removedMembers };
}

/** None for a team that stands alone. */
function leftEvent(
  transaction: Transaction,
  { email: actor }: Caller,
  team: TeamRecord,
  members: readonly TeamMemberRecord[],
): EventWrite[] {
  const { teamId, organizationId } = team;
  if (organizationId === null) return [];
  const event = eventWrite(transaction, {
    ...{ organizationId, teamId, actor, action: 'team-left', version: team.changes + 1 },
    before: { team: viewOfTeam(team, undefined) },
    after: { team: viewOfTeam({ ...team, organizationId: null }, undefined) },
    stayed: members.map(viewOfMember),
  });
  checkSize(event, teamId, members.length);
  return [event];
}

async function divided(
  context: Context,
  transaction: Transaction,
  to: string | null,
  members: readonly TeamMemberRecord[],
): Promise<Readonly<Record<'stays' | 'leaves', readonly TeamMemberRecord[]>>> {
  if (to === null) return { stays: members, leaves: [] };
  const organization = await readOrganizationWithDeleted(transaction, to);
  if (organization === undefined || organization.deletedAt !== undefined) {
    throw new Problem('conflict', `Organization ${to} is deleted, or was never there.`);
  }
  const emails = members.map(({ email }) => email);
  const belonging = await readOrganizationMembers(transaction, to, emails);
  transaction.write(
    ...[...belonging.values()].flatMap((member) => stayWrites(context.clock, member)),
    ...openWrites(context.clock, organization),
  );
  return {
    stays: members.filter(({ email }) => belonging.has(email)),
    leaves: members.filter(({ email }) => !belonging.has(email)),
  };
}
