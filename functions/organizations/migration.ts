/**
 * Moves a standalone team into an organization, and previews the move. One transaction reads all that the rule depends on: the
 * team, and each of its members as a member of the organization.
 */
import { createHash } from 'node:crypto';
import { collections } from '../../shared/names.js';
import type { Member } from '../../shared/organization/organization.js';
import { type MigrationPreview, type MigrationReply, mostTeamMembers } from '../../shared/organization/team.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { Caller } from '../identity/auth.js';
import type { Transaction } from '../store/store.js';
import {
  liftTeamMember,
  type OrganizationMemberRecord,
  type TeamMemberRecord,
  type TeamRecord,
  teamMemberId,
} from './documents.js';
import { eventWrite } from './events.js';
import { stayWrites } from './leaving.js';
import { viewOfMember } from './members.js';
import { bindWrites } from './membership.js';
import {
  checkAdmin,
  noTeam,
  type Reader,
  readOrganizationMembers,
  readTeam,
  readTeamMembers,
  rightsIn,
  rightsInTeam,
  rightsOf,
} from './rights.js';
import { adminsIn, teamChange } from './team-members.js';
import { tellAdmins } from './team-notice.js';
import { viewOfTeam } from './teams.js';
import { type Also, busy, judged, transact } from './transact.js';

const rounds = 8;
/** A document holds at most 1 MiB. */
const mostEventBytes = 1_000_000;

interface Seen {
  readonly team: TeamRecord;
  /** By e-mail. Current as long as the team's `changes` stay the same. */
  readonly members: readonly TeamMemberRecord[];
}

/** The team, if the caller may move it into the organization. Otherwise throws why not. */
async function movable(
  reader: Reader,
  { migrationConsent }: Context['config'],
  caller: Caller,
  { teamId, organizationId }: Pick<MigrationAsked, 'teamId' | 'organizationId'>,
): Promise<TeamRecord> {
  checkAdmin(await rightsIn(reader, caller, organizationId), 'organization');
  const team = migrationConsent
    ? await consented(reader, caller, teamId, organizationId)
    : await readTeam(reader, teamId);
  if (team === undefined) throw noTeam(teamId);
  return team;
}

/** Reads the team before its members. If the team is unchanged later, so are the members. */
async function look(context: Context, caller: Caller, asked: MigrationAsked): Promise<Seen> {
  const { store, config } = context;
  const { teamId } = asked;
  const team = await judged(
    context,
    (reader) => movable(reader, config, caller, asked),
    ({ organizationId }) => organizationId === null,
  );
  const found = await store.query({
    collection: collections.teamMembers,
    where: [['teamId', '==', teamId]],
    orderBy: ['email', 'asc'],
  });
  return { team, members: found.map(({ data }) => liftTeamMember(data)) };
}

/**
 * Under the consent setting, only the team's admin may move it. Otherwise any stranger could create an organization, pull in
 * any team and empty it. A hidden team costs as many reads as a missing one.
 */
async function consented(reader: Reader, caller: Caller, teamId: number, organizationId: string) {
  const { email } = caller;
  // The team first: a member who leaves after this read changes it.
  const team = await readTeam(reader, teamId);
  const own = await readTeamMembers(reader, teamId, [email]);
  const governors = await readOrganizationMembers(reader, team?.organizationId ?? organizationId, [email]);
  if (team === undefined) throw noTeam(teamId);
  if (team.organizationId === organizationId) return team;
  const rights = await rightsInTeam(caller, team, own.get(email), async () =>
    team.organizationId === null ? undefined : governors.get(email),
  );
  checkAdmin(rights, 'team');
  return team;
}

interface Division {
  readonly stays: readonly Member[];
  readonly leaves: readonly Member[];
}

/** A member who is being removed from the organization belongs to it until the document is deleted. */
function divide({ members }: Seen, inOrganization: ReadonlyMap<string, OrganizationMemberRecord>): Division {
  const belongs = ({ email }: Member): boolean => inOrganization.has(email);
  return {
    stays: members.filter(belongs).map(viewOfMember),
    leaves: members.filter((each) => !belongs(each)).map(viewOfMember),
  };
}

const outsidersIn = (teamId: number, leaves: readonly Member[]): string =>
  `Team ${teamId} cannot be migrated because these members are not members of the new organization: ` +
  `${leaves.map(({ email }) => email).join(', ')}. Add them to the organization first, or use the force option to remove ` +
  'them from the team.';

/** Teams from before 3.0.0 may have more members than the limit. */
const tooMany = (teamId: number, members: number): Problem =>
  new Problem('conflict', `Team ${teamId} has ${members} members, too many to move at once.`, {
    advice: `Remove members until there are ${mostTeamMembers}, and add them again afterwards.`,
  });

const elsewhere = (teamId: number): string => `Team ${teamId} is in another organization already.`;

function tagOf({ teamId, changes }: TeamRecord, organizationId: string, division: Division): string {
  const seen = JSON.stringify([teamId, changes, organizationId, division]);
  return `"${createHash('sha256').update(seen).digest('base64url')}"`;
}

/** `ifMatch` is a list of entity tags. Weak tags never match. `*` matches anything. */
const matches = (ifMatch: string, tag: string): boolean =>
  ifMatch.trim() === '*' || [...ifMatch.matchAll(/(?:W\/)?"[^"]*"/g)].some(([each]) => each === tag);

const accountsOf = (members: readonly TeamMemberRecord[], of: readonly Member[]): (string | null)[] => {
  const accounts = new Map(members.map(({ email, boundTo }) => [email, boundTo]));
  return of.map(({ email }) => accounts.get(email) ?? null);
};

export async function previewMigration(
  context: Context,
  caller: Caller,
  teamId: number,
  organizationId: string,
): Promise<{ readonly preview: MigrationPreview; readonly tag: string }> {
  const seen = await look(context, caller, { teamId, organizationId, force: false });
  const { team, members } = seen;
  if (team.organizationId !== null) {
    const here = team.organizationId === organizationId;
    const division = { stays: here ? members.map(viewOfMember) : [], leaves: [] };
    const preview = { teamId, organizationId, ...division, blockers: here ? [] : [elsewhere(teamId)] };
    return { preview, tag: tagOf(team, organizationId, division) };
  }
  const emails = members.map(({ email }) => email);
  const division = divide(seen, await readOrganizationMembers(context.store, organizationId, emails));
  const blockers = division.leaves.length === 0 ? [] : [outsidersIn(teamId, division.leaves)];
  return {
    preview: { teamId, organizationId, stays: [...division.stays], leaves: [...division.leaves], blockers },
    tag: tagOf(team, organizationId, division),
  };
}

export interface MigrationAsked {
  readonly teamId: number;
  readonly organizationId: string;
  /** Members outside the organization are removed from the team. */
  readonly force: boolean;
  /** The tag of the preview on which the caller decided. */
  readonly ifMatch?: string | undefined;
}

export async function migrateTeam(
  context: Context,
  caller: Caller,
  asked: MigrationAsked,
  also: Also<MigrationReply>,
): Promise<MigrationReply> {
  const { teamId, organizationId } = asked;
  for (let round = 1; round <= rounds; round++) {
    const seen = await look(context, caller, asked);
    const { team, members } = seen;
    const role = members.find(({ email }) => email === caller.email)?.role;
    if (team.organizationId === organizationId) return { team: viewOfTeam(team, role), removedMembers: [] };
    if (team.organizationId !== null) {
      throw new Problem('conflict', elsewhere(teamId));
    }
    const moved = await transact(
      context,
      (transaction) => move(context, transaction, caller, asked, seen),
      (reply) => (reply === undefined ? [] : also(reply)),
    );
    if (moved !== undefined) return moved;
  }
  throw busy();
}

/**
 * Returns undefined if the team has changed since it was read. Reads n + 2 documents. Writes 2, and one for each member that
 * leaves.
 */
async function move(
  context: Context,
  transaction: Transaction,
  caller: Caller,
  asked: MigrationAsked,
  seen: Seen,
): Promise<MigrationReply | undefined> {
  const { teamId, organizationId } = asked;
  const team = await readTeam(transaction, teamId);
  if (team?.changes !== seen.team.changes) return undefined;
  const emails = seen.members.map(({ email }) => email);
  // A setting makes the operator one, and an earlier read found the organization.
  const inOrganization = await readOrganizationMembers(
    transaction,
    organizationId,
    caller.operator ? emails : [...emails, caller.email],
  );
  const own = inOrganization.get(caller.email);
  if (!caller.operator) {
    const rights = await rightsOf(transaction, caller, organizationId, own);
    checkAdmin(rights, 'organization');
  }
  // First of all, wait for members who are being removed. Only then is it clear who belongs.
  const stay = emails.flatMap((email) => {
    const member = inOrganization.get(email);
    return member === undefined ? [] : stayWrites(context.clock, member);
  });
  const division = divide(seen, inOrganization);
  const { stays, leaves } = division;
  checkDivision(asked, team, division);
  const removedMembers = leaves.map(({ email }) => email);
  const migrated = { ...team, organizationId };
  const event = eventWrite(transaction, {
    organizationId,
    teamId,
    version: team.changes + 1,
    actor: caller.email,
    action: 'team-migrated',
    before: { team: viewOfTeam(team, undefined), members: leaves },
    after: { team: viewOfTeam(migrated, undefined) },
    stayed: [...stays],
    boundTo: accountsOf(seen.members, [...stays, ...leaves]),
  });
  if (Buffer.byteLength(JSON.stringify(event.data)) > mostEventBytes) throw tooMany(teamId, seen.members.length);
  transaction.write(
    ...stay,
    ...bindWrites(
      caller,
      own,
      seen.members.find(({ email }) => email === caller.email),
    ),
    teamChange(team, {
      organizationId,
      migration: event.id,
      admins: adminsIn(stays),
      members: stays.length,
    }),
    ...removedMembers.map((email) => ({
      kind: 'delete' as const,
      collection: collections.teamMembers,
      id: teamMemberId(teamId, email),
    })),
    event,
    ...tellAdmins(context, event, team, seen.members),
  );
  const role = stays.find(({ email }) => email === caller.email)?.role;
  return { team: viewOfTeam(migrated, role), removedMembers };
}

/** Throws if the members differ from the preview, or if members would be removed without `force`. */
function checkDivision(
  { teamId, organizationId, force, ifMatch }: MigrationAsked,
  team: Seen['team'],
  division: ReturnType<typeof divide>,
): void {
  const { leaves } = division;
  if (ifMatch !== undefined && !matches(ifMatch, tagOf(team, organizationId, division))) {
    throw new Problem('precondition-failed', `Team ${teamId} or its members have changed since the preview.`, {
      advice: 'Ask for the preview again, then decide again.',
    });
  }
  if (leaves.length > 0 && !force) {
    const members = leaves.map(({ email }) => email);
    throw new Problem('members-outside', outsidersIn(teamId, leaves), { members: { members } });
  }
}
