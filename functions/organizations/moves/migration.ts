/**
 * Moves a standalone team into an organization, and previews the move. One transaction reads all that the rule depends on: the
 * team, and each of its members as a member of the organization.
 */
import type { Member } from '../../../shared/organization/organization.js';
import type { MigrationPreview, MigrationReply } from '../../../shared/organization/team.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Caller } from '../../identity/auth.js';
import { passedBy } from '../ceilings.js';
import type { OrganizationRecord, TeamMemberRecord, TeamRecord } from '../documents.js';
import { viewOfMember } from '../members/members.js';
import { bindWrites, checkTheirs, isTheirs } from '../members/membership.js';
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
} from '../rights.js';
import { membersOfTeam } from '../teams/documents.js';
import { viewOfTeam } from '../teams/teams.js';
import { transact, transactInTeam } from '../transact.js';
import { checkOutsiders, type Division, divide, divideNow, moveTeam, outsidersIn } from './move.js';
import { hasProjects, movedBootstraps, projectsStay } from './moved-bootstraps.js';
import { checkTag, tagOf } from './tag.js';

/** The team, if the caller may move it into the organization. Otherwise throws why not. */
async function movable(
  context: Context,
  reader: Reader,
  caller: Caller,
  { teamId, organizationId }: Pick<MigrationAsked, 'teamId' | 'organizationId'>,
): Promise<{ readonly target: SeenOrganization; readonly team: TeamRecord }> {
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
  checkAdmin(rightsInTeam(caller, team, own.get(email), governors.get(email)), 'team');
  return team;
}

const countedOutside = (teamId: number, leaves: number): string =>
  `Team ${teamId} cannot be migrated without the force option because ${leaves} of its members are not members of the new organization.`;

const elsewhere = (teamId: number): string => `Team ${teamId} is in another organization already.`;

/** What a preview shows of a division. */
interface Shown {
  readonly stays: readonly Member[];
  readonly leaves: readonly Member[];
}

const shownOf = ({ stays, leaves }: Division): Shown => ({
  stays: stays.map(viewOfMember),
  leaves: leaves.map(viewOfMember),
});

const countsOf = ({ stays, leaves }: Shown) => ({ stays: stays.length, leaves: leaves.length });

const movedInto = (context: Context, team: TeamRecord, organizationId: string, { stays, leaves }: Shown) =>
  movedBootstraps(context, { team, organizationId, is: [...stays, ...leaves], becomes: stays, goes: 'in' });

/** Whether the caller may learn who is in a standalone team. */
const seesMembers = (caller: Caller, members: readonly TeamMemberRecord[]): boolean =>
  caller.operator || members.some((each) => each.email === caller.email && isTheirs(each, caller));

/** It covers all that a preview tells but its warnings. A hash of names would let their reader try out guesses. */
const migrationTag = (
  { teamId, changes }: TeamRecord,
  organizationId: string,
  shown: Shown | ReturnType<typeof countsOf>,
  ...moved: Awaited<ReturnType<typeof movedBootstraps>>[]
): string => tagOf([teamId, changes, organizationId, shown, ...moved]);

export async function previewMigration(
  context: Context,
  caller: Caller,
  teamId: number,
  organizationId: string,
): Promise<{ readonly preview: MigrationPreview; readonly tag: string }> {
  const { preview, team, ceilings } = await previewOfMembers(context, caller, teamId, organizationId);
  // Nobody gets a preview of projects without seeing their team.
  if (preview.counts !== undefined) return { preview, tag: migrationTag(team, organizationId, preview.counts) };
  const shown = { stays: preview.stays, leaves: preview.leaves };
  if (team.organizationId !== null) return { preview, tag: migrationTag(team, organizationId, shown) };
  const moved = await movedInto(context, team, organizationId, shown);
  const tag = migrationTag(team, organizationId, shown, moved);
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
    const members = await membersOfTeam(context, teamId);
    const { stays, leaves } = shownOf(
      await divide(transaction, team.organizationId === null ? found.target : null, members),
    );
    const isBlocked = leaves.length > 0;
    if (team.organizationId === null && !seesMembers(caller, members)) {
      const counts = countsOf({ stays, leaves });
      const blockers = isBlocked ? [countedOutside(teamId, leaves.length)] : [];
      return { preview: { teamId, organizationId, stays: [], leaves: [], counts, blockers }, team };
    }
    const blockers = isBlocked ? [outsidersIn(teamId, leaves)] : [];
    return {
      preview: { teamId, organizationId, stays: [...stays], leaves: [...leaves], blockers },
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
export const migrateTeam = (context: Context, caller: Caller, asked: MigrationAsked): Promise<MigrationReply> =>
  transactInTeam(context, asked.teamId, async (transaction) => {
    const { teamId, organizationId, force, ifMatch } = asked;
    const found = await movable(context, transaction, caller, asked);
    const { team } = found;
    if (team.organizationId === organizationId) {
      const own = await readTeamMembers(transaction, teamId, [caller.email]);
      return { team: viewOfTeam(team, own.get(caller.email)?.role), removedMembers: [] };
    }
    if (team.organizationId !== null) throw new Problem('conflict', elsewhere(teamId));
    const { target } = found;
    const members = await membersOfTeam(context, teamId);
    const division = await divideNow(context, transaction, target, members);
    await checkTag(teamId, ifMatch, () => tagNow(context, caller, { team, organizationId, members }, division));
    if (!force) checkOutsiders(teamId, organizationId, division);
    const ownInTeam = members.find(({ email }) => email === caller.email);
    transaction.write(...bindWrites(caller, target.own, ownInTeam));
    return moveTeam(transaction, caller, team, organizationId, division);
  });

/** The tag of a preview that the caller would get now. */
async function tagNow(
  context: Context,
  caller: Caller,
  seen: { readonly team: TeamRecord; readonly organizationId: string; readonly members: readonly TeamMemberRecord[] },
  division: Division,
): Promise<string> {
  const { team, organizationId, members } = seen;
  const shown = shownOf(division);
  return seesMembers(caller, members)
    ? migrationTag(team, organizationId, shown, await movedInto(context, team, organizationId, shown))
    : migrationTag(team, organizationId, countsOf(shown));
}
