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
import { passedBy } from './ceilings.js';
import {
  liftTeamMember,
  type OrganizationMemberRecord,
  type OrganizationRecord,
  type TeamMemberRecord,
  type TeamRecord,
  teamMemberId,
} from './documents.js';
import { type EventWrite, eventWrite } from './events.js';
import { stayWrites } from './leaving.js';
import { viewOfMember } from './members.js';
import { bindWrites, checkTheirs, isTheirs } from './membership.js';
import { hasProjects, movedBootstraps, projectsStay } from './moved-bootstraps.js';
import { openWrites } from './organization-life.js';
import {
  checkAdmin,
  noTeam,
  type Reader,
  readOrganizationMembers,
  readTeam,
  readTeamMembers,
  rightsInTeam,
  type SeenOrganization,
  seeOrganization,
} from './rights.js';
import { adminsIn, teamChange } from './team-members.js';
import { viewOfTeam } from './teams.js';
import { type Also, transact, transactInTeam } from './transact.js';

/** A document holds at most 1 MiB. */
const mostEventBytes = 1_000_000;

interface Seen {
  readonly target: SeenOrganization;
  readonly team: TeamRecord;
  /** By e-mail. */
  readonly members: readonly TeamMemberRecord[];
}

/** The team, if the caller may move it into the organization. Otherwise throws why not. */
async function movable(
  context: Context,
  reader: Reader,
  caller: Caller,
  { teamId, organizationId }: Pick<MigrationAsked, 'teamId' | 'organizationId'>,
): Promise<Omit<Seen, 'members'>> {
  const target = await seeOrganization(reader, caller, organizationId);
  checkAdmin(target, 'organization');
  const team = context.config.migrationConsent
    ? await consented(reader, caller, teamId, organizationId)
    : await withoutProjects(context, reader, caller, { teamId, organizationId });
  return { target, team };
}

/** Whoever governs a team has its projects, so an admin of the team must agree to a move of them under every setting. */
async function withoutProjects(
  context: Context,
  reader: Reader,
  caller: Caller,
  { teamId, organizationId }: { readonly teamId: number; readonly organizationId: string },
): Promise<TeamRecord> {
  const team = await readTeam(reader, teamId);
  if (team === undefined) throw noTeam(teamId);
  if (team.organizationId !== null || team.holds !== true || caller.operator) return team;
  const own = (await readTeamMembers(reader, teamId, [caller.email])).get(caller.email);
  checkTheirs(own, caller, null);
  if (own?.role !== 'admin' && (await hasProjects(context, team))) {
    throw projectsStay(
      team,
      `Propose a transfer: plinth team transfer ${teamId} --organization ${organizationId}. The team moves when one of its admins accepts it.`,
    );
  }
  return team;
}

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

/**
 * Under the consent setting, only the team's admin may move it. Otherwise any stranger could create an organization, pull in
 * any team and empty it. A hidden team costs as many reads as a missing one.
 */
async function consented(reader: Reader, caller: Caller, teamId: number, organizationId: string) {
  const { email } = caller;
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

/** Those of the team's members who are in the organization. Reads nobody twice. */
async function belonging(reader: Reader, { target, members }: Seen) {
  const { organization, own } = target;
  const others = members.map(({ email }) => email).filter((email) => email !== own?.email);
  const found = await readOrganizationMembers(reader, organization.id, others);
  return own === undefined ? found : new Map([...found, [own.email, own]]);
}

interface Division {
  readonly stays: readonly Member[];
  readonly leaves: readonly Member[];
}

/** A member who is being removed from the organization belongs to it until the document is deleted. */
function divide(
  { members }: Pick<Seen, 'members'>,
  inOrganization: ReadonlyMap<string, OrganizationMemberRecord>,
): Division {
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

const countedOutside = (teamId: number, { leaves }: Division): string =>
  `Team ${teamId} cannot be migrated without the force option because ${leaves.length} of its members are not members of the new organization.`;

/** Teams from before 3.0.0 may have more members than the limit. */
const tooMany = (teamId: number, members: number): Problem =>
  new Problem('conflict', `Team ${teamId} has ${members} members, too many to move at once.`, {
    advice: `Remove members until there are ${mostTeamMembers}, and add them again afterwards.`,
  });

export function checkSize({ data }: EventWrite, teamId: number, members: number): void {
  if (Buffer.byteLength(JSON.stringify(data)) > mostEventBytes) throw tooMany(teamId, members);
}

const elsewhere = (teamId: number): string => `Team ${teamId} is in another organization already.`;

const movedInto = (context: Context, team: TeamRecord, organizationId: string, { stays, leaves }: Division) =>
  movedBootstraps(context, { team, organizationId, is: [...stays, ...leaves], becomes: stays, goes: 'in' });

type Moved = Awaited<ReturnType<typeof movedBootstraps>>;

/** Whether the caller may learn who is in a standalone team. */
const seesMembers = (caller: Caller, members: readonly TeamMemberRecord[]): boolean =>
  caller.operator || members.some((each) => each.email === caller.email && isTheirs(each, caller));

const countsIn = ({ stays, leaves }: Division) => ({ stays: stays.length, leaves: leaves.length });

/** It covers all that a preview tells but its warnings. A hash of names would let their reader try out guesses. */
function tagOf(
  { teamId, changes }: TeamRecord,
  organizationId: string,
  division: Division | ReturnType<typeof countsIn>,
  moved?: Moved,
): string {
  const seen = JSON.stringify([teamId, changes, organizationId, division, ...(moved === undefined ? [] : [moved])]);
  return `"${createHash('sha256').update(seen).digest('base64url')}"`;
}

/** `ifMatch` is a list of entity tags. Weak tags never match. `*` matches anything. */
export const matches = (ifMatch: string, tag: string): boolean =>
  ifMatch.trim() === '*' || [...ifMatch.matchAll(/(?:W\/)?"[^"]*"/g)].some(([each]) => each === tag);

export const accountsOf = (members: readonly TeamMemberRecord[], of: readonly Member[]): (string | null)[] => {
  const accounts = new Map(members.map(({ email, boundTo }) => [email, boundTo]));
  return of.map(({ email }) => accounts.get(email) ?? null);
};

export async function previewMigration(
  context: Context,
  caller: Caller,
  teamId: number,
  organizationId: string,
): Promise<{ readonly preview: MigrationPreview; readonly tag: string }> {
  const { preview, team, ceilings } = await previewOfMembers(context, caller, teamId, organizationId);
  // Nobody gets a preview of projects without seeing their team.
  if (preview.counts !== undefined) return { preview, tag: tagOf(team, organizationId, preview.counts) };
  const division = { stays: preview.stays, leaves: preview.leaves };
  if (team.organizationId !== null) return { preview, tag: tagOf(team, organizationId, division) };
  const moved = await movedInto(context, team, organizationId, division);
  const tag = tagOf(team, organizationId, division, moved);
  if (moved.projectIds.length === 0) return { preview, tag };
  const warnings = await passedBy(context, { organizationId, ceilings, team });
  const bootstraps = { bootstraps: [...moved.shown], bootstrapsInAll: moved.projectIds.length };
  return { preview: { ...preview, ...bootstraps, ...(warnings.length > 0 && { warnings }) }, tag };
}

interface PreviewOfMembers {
  readonly preview: MigrationPreview;
  readonly team: TeamRecord;
  readonly ceilings?: OrganizationRecord['ceilings'];
}

const previewOfMembers = (context: Context, caller: Caller, teamId: number, organizationId: string) =>
  transact(context, async (transaction): Promise<PreviewOfMembers> => {
    const found = await movable(context, transaction, caller, { teamId, organizationId });
    const { team } = found;
    if (team.organizationId !== null && team.organizationId !== organizationId) {
      return { preview: { teamId, organizationId, stays: [], leaves: [], blockers: [elsewhere(teamId)] }, team };
    }
    const seen = { ...found, members: await membersOfTeam(context, teamId) };
    const division =
      team.organizationId === null
        ? divide(seen, await belonging(transaction, seen))
        : { stays: seen.members.map(viewOfMember), leaves: [] };
    const isBlocked = division.leaves.length > 0;
    if (team.organizationId === null && !seesMembers(caller, seen.members)) {
      const blockers = isBlocked ? [countedOutside(teamId, division)] : [];
      return { preview: { teamId, organizationId, stays: [], leaves: [], counts: countsIn(division), blockers }, team };
    }
    const blockers = isBlocked ? [outsidersIn(teamId, division.leaves)] : [];
    return {
      preview: { teamId, organizationId, stays: [...division.stays], leaves: [...division.leaves], blockers },
      team,
      ceilings: found.target.organization.ceilings,
    };
  });

export interface MigrationAsked {
  readonly teamId: number;
  readonly organizationId: string;
  /** Members outside the organization are removed from the team. */
  readonly force: boolean;
  /** The tag of the preview on which the caller decided. */
  readonly ifMatch?: string | undefined;
}

/** Reads 2n + 3 documents, each of them once. */
export const migrateTeam = (
  context: Context,
  caller: Caller,
  asked: MigrationAsked,
  also?: Also<MigrationReply>,
): Promise<MigrationReply> =>
  transactInTeam(
    context,
    asked.teamId,
    async (transaction) => {
      const { teamId, organizationId } = asked;
      const found = await movable(context, transaction, caller, asked);
      const { team } = found;
      if (team.organizationId === organizationId) {
        const own = await readTeamMembers(transaction, teamId, [caller.email]);
        return { team: viewOfTeam(team, own.get(caller.email)?.role), removedMembers: [] };
      }
      if (team.organizationId !== null) throw new Problem('conflict', elsewhere(teamId));
      return move(context, transaction, caller, asked, { ...found, members: await membersOfTeam(context, teamId) });
    },
    also,
  );

/** Writes 2, and one for each member that leaves. */
async function move(
  context: Context,
  transaction: Transaction,
  caller: Caller,
  asked: MigrationAsked,
  seen: Seen,
): Promise<MigrationReply> {
  const { teamId, organizationId } = asked;
  const { target, team, members } = seen;
  const inOrganization = await belonging(transaction, seen);
  // First of all, wait for members who are being removed. Only then is it clear who belongs.
  const stay = members.flatMap(({ email }) => {
    const member = inOrganization.get(email);
    return member === undefined ? [] : stayWrites(context.clock, member);
  });
  const open = openWrites(context.clock, target.organization);
  const division = divide(seen, inOrganization);
  const { stays, leaves } = division;
  const tag = asked.ifMatch === undefined ? undefined : await tagFor(context, caller, asked, seen, division);
  checkDivision(asked, division, tag);
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
    boundTo: accountsOf(members, [...stays, ...leaves]),
  });
  checkSize(event, teamId, members.length);
  const ownInTeam = members.find(({ email }) => email === caller.email);
  transaction.write(
    ...stay,
    ...open,
    ...bindWrites(caller, target.own, ownInTeam),
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
  );
  const role = stays.find(({ email }) => email === caller.email)?.role;
  return { team: viewOfTeam(migrated, role), removedMembers };
}

/** The tag of a preview that the caller would get now. */
const tagFor = async (
  context: Context,
  caller: Caller,
  { organizationId }: MigrationAsked,
  { team, members }: Seen,
  division: Division,
): Promise<string> =>
  seesMembers(caller, members)
    ? tagOf(team, organizationId, division, await movedInto(context, team, organizationId, division))
    : tagOf(team, organizationId, countsIn(division));

/** Throws if the members or bootstraps differ from the preview, or if members would be removed without `force`. */
function checkDivision(
  { teamId, organizationId, force, ifMatch = '*' }: MigrationAsked,
  { leaves }: Division,
  tag: string | undefined,
): void {
  if (tag !== undefined && !matches(ifMatch, tag)) {
    throw new Problem(
      'precondition-failed',
      `Team ${teamId}, its members or its bootstraps have changed since the preview.`,
      {
        advice: 'Ask for the preview again, then decide again.',
      },
    );
  }
  if (!force) checkOutsiders(teamId, organizationId, leaves);
}

export function checkOutsiders(teamId: number, organizationId: string, leaves: readonly Member[]): void {
  if (leaves.length > 0) {
    const members = leaves.map(({ email }) => email);
    throw new Problem('members-outside', outsidersIn(teamId, leaves), {
      members: { members },
      advice: `Or invite all of them (POST /organizations/${organizationId}/invitations), and migrate the team once they have accepted.`,
    });
  }
}
