/**
 * Removes a member from an organization. At no moment does a team of the organization hold a non-member. A transaction cannot
 * query, so the removal has four steps. Find their teams, and refuse if there are any. Mark the member as leaving, after which
 * no team accepts them. Find their teams again, and refuse, or remove them from there. Delete the member. A retry finishes a
 * removal that stopped half-way.
 */
import { collections } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Caller } from '../../identity/auth.js';
import { read } from '../../store/lift.js';
import type { Transaction } from '../../store/store.js';
import { teamWrites } from '../change.js';
import {
  liftTeam,
  liftTeamMember,
  organizationMemberId,
  type TeamRecord,
  teamDocumentId,
  teamMemberId,
} from '../documents.js';
import { eventWrite } from '../events/events.js';
import {
  checkAdmin,
  type Reader,
  readOrganizationMembers,
  readTeam,
  readTeamMembers,
  seeOrganization,
} from '../rights.js';
import { leave } from '../teams/members.js';
import { busy, transact, transactInTeam } from '../transact.js';
import { hasOtherAdmin, keepingAnAdmin, lastAdmin } from './last-admin.js';
import { markWrite, unmarkWrite } from './leaving.js';
import { noMember, viewOfMember } from './members.js';
import { bindWrites } from './membership.js';

interface Removal {
  readonly organizationId: string;
  readonly email: string;
  readonly actor: string;
  readonly why?: string | undefined;
  /** The mark of the first removal under way. Later ones continue it. */
  readonly mark: string;
  /** True if this removal set the mark. */
  readonly own: boolean;
}

const rounds = 8;

export async function removeOrganizationMember(
  context: Context,
  caller: Caller,
  asked: Pick<Removal, 'organizationId' | 'email' | 'why'>,
  force: boolean,
): Promise<void> {
  const { organizationId, email } = asked;
  await checkMayRemove(context, caller, organizationId, email);
  for (let round = 1; round <= rounds; round++) {
    if (!force) {
      const held = await teamsHolding(context, organizationId, email);
      if (held.length > 0) await checkInNone(context, caller, asked, held);
    }
    const removal = await markLeaving(context, caller, asked, round > 1);
    if (removal === undefined) return;
    const teams = await teamsHolding(context, organizationId, email);
    if (force) for (const { teamId } of teams) await leaveTeam(context, removal, teamId);
    else if (teams.length > 0) await unmarkIfHeld(context, removal, teams);
    if (await deleteMember(context, removal)) return;
  }
  throw busy();
}

/** Refusals that don't depend on the teams. The transaction that marks the member checks again. */
async function checkMayRemove(context: Context, caller: Caller, organizationId: string, email: string): Promise<void> {
  const { role } = await removable(context.store, caller, organizationId, email);
  if (role !== 'admin' || (await hasOtherAdmin(context, organizationId, email))) return;
  // The caller may have been that other admin, and be gone by now.
  await removable(context.store, caller, organizationId, email);
  throw lastAdmin(email);
}

/** The member, if the caller may remove them. */
async function removable(reader: Reader, caller: Caller, organizationId: string, email: string) {
  const seen = await seeOrganization(reader, caller, organizationId, [email]);
  if (caller.email !== email) checkAdmin(seen, 'organization');
  const member = seen.members.get(email);
  if (member === undefined) throw noMember(email);
  return member;
}

/** Returns undefined if someone else has removed the member since this removal began. */
const markLeaving = (
  context: Context,
  caller: Caller,
  { organizationId, email, why }: Pick<Removal, 'organizationId' | 'email' | 'why'>,
  begun: boolean,
): Promise<Removal | undefined> =>
  keepingAnAdmin(context, organizationId, email, (checkAnother) => async (transaction) => {
    if (begun) {
      const still = await readOrganizationMembers(transaction, organizationId, [email]);
      if (!still.has(email)) return undefined;
    }
    const seen = await seeOrganization(transaction, caller, organizationId, [email]);
    if (caller.email !== email) checkAdmin(seen, 'organization');
    const member = seen.members.get(email);
    if (member === undefined) throw noMember(email);
    if (member.governs) await checkAnother();
    const own = member.leaving === undefined;
    const mark = member.leaving ?? context.random.uuid();
    // Members who remove themselves need no binding any more.
    const others = caller.email === email ? undefined : seen.own;
    transaction.write(...bindWrites(caller, others), markWrite(context.clock, member, mark));
    return { organizationId, email, actor: caller.email, why, mark, own };
  });

async function teamsHolding({ store }: Context, organizationId: string, email: string): Promise<TeamRecord[]> {
  const memberships = await store.query({ collection: collections.teamMembers, where: [['email', '==', email]] });
  const ids = memberships.map(({ data }) => teamDocumentId(liftTeamMember(data).teamId));
  return (await store.getMany(collections.teams, ids))
    .flatMap((each) => read(each, liftTeam)?.data ?? [])
    .filter((team) => team.organizationId === organizationId)
    .sort((a, b) => a.teamId - b.teamId);
}

/** Of these teams, those that hold the member. Teams and members are found at different moments, and read here at one. */
async function stillHolding(
  transaction: Transaction,
  { organizationId, email }: Pick<Removal, 'organizationId' | 'email'>,
  found: readonly TeamRecord[],
): Promise<TeamRecord[]> {
  const ids = found.map(({ teamId }) => teamId);
  const teams = await transaction.getMany(collections.teams, ids.map(teamDocumentId));
  const members = await transaction.getMany(
    collections.teamMembers,
    ids.map((teamId) => teamMemberId(teamId, email)),
  );
  return teams.flatMap((each, i) => {
    const team = read(each, liftTeam)?.data;
    return team?.organizationId === organizationId && members[i] !== undefined ? [team] : [];
  });
}

/** A removal may go on that is refused here at no moment. */
const checkInNone = (
  context: Context,
  caller: Caller,
  asked: Pick<Removal, 'organizationId' | 'email'>,
  found: readonly TeamRecord[],
): Promise<void> =>
  transact(context, async (transaction) => {
    const { organizationId, email } = asked;
    await removable(transaction, caller, organizationId, email);
    const teams = await stillHolding(transaction, asked, found);
    if (teams.length > 0) throw stillHeld(email, teams);
  });

function stillHeld(email: string, teams: readonly TeamRecord[]): Problem {
  const named = teams.map(({ teamId, name }) => `${teamId} (${name})`).join(', ');
  return new Problem('conflict', `${email} is still a member of these teams of the organization: ${named}.`, {
    advice: 'Remove them from the teams first, or use the force option to remove them from the teams as well.',
    members: { teams: teams.map(({ teamId, name }) => ({ teamId, name })) },
  });
}

/** Reads the member. `ours` is false if the mark is no longer this removal's. */
const marked = async (
  reader: Parameters<typeof readOrganizationMembers>[0],
  { organizationId, email, mark }: Removal,
) => {
  const member = (await readOrganizationMembers(reader, organizationId, [email])).get(email);
  return { member, ours: member?.leaving === mark };
};

/** Refuses the removal if a team holds the member. Only the removal that set the mark clears it. */
async function unmarkIfHeld(context: Context, removal: Removal, found: readonly TeamRecord[]): Promise<void> {
  const teams = await transact(context, async (transaction) => {
    const { member, ours } = await marked(transaction, removal);
    const holding = await stillHolding(transaction, removal, found);
    if (holding.length > 0 && removal.own && ours && member !== undefined) transaction.write(unmarkWrite(member));
    return holding;
  });
  if (teams.length > 0) throw stillHeld(removal.email, teams);
}

/** Whoever reads the team's record later may be of another organization. So what was said of the removal is not repeated. */
const leaving = 'They are leaving the organization.';
const beingRemoved = 'They are being removed from the organization.';

const leaveTeam = (context: Context, { organizationId, email, actor }: Removal, teamId: number): Promise<void> =>
  transactInTeam(context, teamId, async (transaction) => {
    const team = await readTeam(transaction, teamId);
    const member = (await readTeamMembers(transaction, teamId, [email])).get(email);
    if (team?.organizationId !== organizationId || member === undefined) return;
    const why = actor === email ? leaving : beingRemoved;
    transaction.write(...teamWrites(transaction, actor, team, leave(team, member, why)));
  });

/** Returns false if the mark is gone: another removal has refused and cleared it, or it has expired. */
const deleteMember = (context: Context, removal: Removal): Promise<boolean> =>
  transact(context, async (transaction) => {
    const { organizationId, email, actor, why } = removal;
    const { member, ours } = await marked(transaction, removal);
    if (member === undefined) return true;
    if (!ours) return false;
    const id = organizationMemberId(organizationId, email);
    const version = member.version + 1;
    transaction.write(
      { kind: 'delete', collection: collections.organizationMembers, id },
      { kind: 'set', collection: collections.organizationMemberVersions, id, data: { schema: 1, version } },
      eventWrite(transaction, {
        organizationId,
        actor,
        action: 'member-removed',
        email,
        ...(why !== undefined && { why }),
        version,
        before: viewOfMember(member),
        after: null,
      }),
    );
    return true;
  });
