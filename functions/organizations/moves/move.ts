/**
 * The one commit that moves a team: into an organization, out of it, or from one into another one, which are two events. Members
 * who are not in the new organization leave the team.
 */
import type { Member } from '../../../shared/organization/organization.js';
import type { MigrationReply } from '../../../shared/organization/team.js';
import { Problem } from '../../../shared/problems.js';
import type { Clock } from '../../host/clock.js';
import type { Caller } from '../../identity/auth.js';
import type { Transaction } from '../../store/store.js';
import type { OrganizationMemberRecord, OrganizationRecord, TeamMemberRecord, TeamRecord } from '../documents.js';
import { eventWrite } from '../events/events.js';
import { stayWrites } from '../members/leaving.js';
import { viewOfMember } from '../members/members.js';
import { openWrites } from '../organization-life.js';
import { type Reader, readOrganizationMembers } from '../rights.js';
import { adminsIn, endOfTeamMember, teamChange } from '../teams/documents.js';
import { viewOfTeam } from '../teams/teams.js';

export interface Destination {
  readonly organization: OrganizationRecord;
  /** The caller's own membership, if it was read before. */
  readonly own?: OrganizationMemberRecord | undefined;
}

export interface Division {
  readonly stays: readonly TeamMemberRecord[];
  readonly leaves: readonly TeamMemberRecord[];
  /** Those that stay, as members of the organization. */
  readonly belonging: readonly OrganizationMemberRecord[];
}

/**
 * A member who is being removed from the organization belongs to it until the document is deleted. Reads nobody twice. Everybody
 * stays in a team that stands alone (null).
 */
export async function divide(
  reader: Reader,
  to: Destination | null,
  members: readonly TeamMemberRecord[],
): Promise<Division> {
  if (to === null) return { stays: members, leaves: [], belonging: [] };
  const { organization, own } = to;
  const others = members.map(({ email }) => email).filter((email) => email !== own?.email);
  const inOrganization = new Map(await readOrganizationMembers(reader, organization.id, others));
  if (own !== undefined) inOrganization.set(own.email, own);
  const belongs = ({ email }: Member): boolean => inOrganization.has(email);
  return {
    stays: members.filter(belongs),
    leaves: members.filter((each) => !belongs(each)),
    belonging: members.flatMap(({ email }) => inOrganization.get(email) ?? []),
  };
}

/** The division that is committed. It waits for members who are being removed, because only then is it clear who belongs. */
export async function divideNow(
  { clock }: { readonly clock: Clock },
  transaction: Transaction,
  to: Destination | null,
  members: readonly TeamMemberRecord[],
): Promise<Division> {
  const division = await divide(transaction, to, members);
  transaction.write(...division.belonging.flatMap((member) => stayWrites(clock, member)));
  if (to !== null) transaction.write(...openWrites(clock, to.organization));
  return division;
}

export const outsidersIn = (teamId: number, leaves: readonly Member[]): string =>
  `Team ${teamId} cannot be migrated because these members are not members of the new organization: ` +
  `${leaves.map(({ email }) => email).join(', ')}. Add them to the organization first, or use the force option to remove ` +
  'them from the team.';

export function checkOutsiders(teamId: number, organizationId: string, { leaves }: Division): void {
  if (leaves.length === 0) return;
  throw new Problem('members-outside', outsidersIn(teamId, leaves), {
    members: { members: leaves.map(({ email }) => email) },
    advice: `Or invite all of them (POST /organizations/${organizationId}/invitations), and migrate the team once they have accepted.`,
  });
}

export const noAdmin = (teamId: number): Problem =>
  new Problem('conflict', `Team ${teamId} has no admin, and a team that stands alone needs one.`, {
    advice: 'Add an admin to the team first.',
  });

/** Writes the team, an event for each side, and one document for each member that leaves. Writes nothing if it throws. */
export function moveTeam(
  transaction: Transaction,
  { email: actor }: Pick<Caller, 'email'>,
  team: TeamRecord,
  /** Null: to stand alone. */
  to: string | null,
  { stays, leaves }: Division,
): MigrationReply {
  const { teamId } = team;
  if (to === null && adminsIn(stays) === 0) throw noAdmin(teamId);
  const moved = { ...team, organizationId: to };
  const members = [...stays, ...leaves];
  const before = { team: viewOfTeam(team, undefined) };
  const left =
    team.organizationId === null
      ? undefined
      : eventWrite(transaction, {
          ...{ organizationId: team.organizationId, teamId, actor, action: 'team-left', version: team.changes + 1 },
          before,
          after: { team: viewOfTeam({ ...team, organizationId: null }, undefined) },
          stayed: members.map(viewOfMember),
        });
  const nth = left === undefined ? 0 : 1;
  const arrived =
    to === null
      ? undefined
      : eventWrite(
          transaction,
          {
            ...{ organizationId: to, teamId, actor, action: 'team-migrated', version: team.changes + nth + 1 },
            before: { ...before, members: leaves.map(viewOfMember) },
            after: { team: viewOfTeam(moved, undefined) },
            stayed: stays.map(viewOfMember),
            boundTo: members.map(({ boundTo }) => boundTo ?? null),
          },
          { nth },
        );
  const events = [left, arrived].flatMap((each) => each ?? []);
  const standing = { organizationId: to, migration: arrived?.id, admins: adminsIn(stays), members: stays.length };
  transaction.write(
    teamChange(team, standing, events.length),
    ...leaves.map(({ email }) => endOfTeamMember(teamId, email)),
    ...events,
  );
  const role = stays.find(({ email }) => email === actor)?.role;
  return { team: viewOfTeam(moved, role), removedMembers: leaves.map(({ email }) => email) };
}
