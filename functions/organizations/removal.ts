/**
 * Removes a member from an organization, so that at no moment a team of it holds somebody who is no member. A transaction
 * cannot query, so it goes in three moves: mark the member as leaving, from when on no team takes them; find their teams, and
 * refuse or remove them there; delete the member. A retry finishes what stopped half-way.
 */
import { randomUUID } from 'node:crypto';
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { Caller } from '../http/auth.js';
import { read } from '../store/lift.js';
import { liftTeam, liftTeamMember, organizationMemberId, type TeamRecord, teamDocumentId } from './documents.js';
import { eventWrite } from './events.js';
import { keepingAnAdmin } from './last-admin.js';
import { noMember, viewOfMember } from './members.js';
import { checkAdmin, readOrganizationMembers, readTeam, readTeamMembers, standingOf } from './standing.js';
import { leaveWrites } from './team-members.js';
import { busy, transact } from './transact.js';

interface Removal {
  readonly organizationId: string;
  readonly email: string;
  readonly actor: string;
  /** Of this one removal; whoever comes later takes the mark over with its own. */
  readonly mark: string;
}

const rounds = 8;

export async function removeOrganizationMember(
  context: Context,
  caller: Caller,
  organizationId: string,
  email: string,
  force: boolean,
): Promise<void> {
  for (let round = 1; round <= rounds; round++) {
    const removal = { organizationId, email, actor: caller.email, mark: randomUUID() };
    if (!(await markLeaving(context, caller, removal, round > 1))) return;
    const teams = await teamsHolding(context, removal);
    if (teams.length > 0 && !force) {
      await unmark(context, removal);
      throw stillHeld(email, teams);
    }
    for (const { teamId } of teams) await leaveTeam(context, removal, teamId);
    if (await deleteMember(context, removal)) return;
  }
  throw busy();
}

/** False: somebody else has removed the member since we began. */
const markLeaving = (context: Context, caller: Caller, removal: Removal, begun: boolean): Promise<boolean> =>
  keepingAnAdmin(context, removal.organizationId, removal.email, async (transaction, checkAnother) => {
    const { organizationId, email, mark } = removal;
    const members = await readOrganizationMembers(transaction, organizationId, [caller.email, email]);
    const member = members.get(email);
    if (begun && member === undefined) return false;
    const standing = await standingOf(transaction, caller, organizationId, members.get(caller.email));
    if (caller.email !== email) checkAdmin(standing, 'organization');
    if (member === undefined) throw noMember(email);
    if (member.governs) await checkAnother();
    transaction.write({
      kind: 'update',
      collection: collections.organizationMembers,
      id: organizationMemberId(organizationId, email),
      data: { leaving: mark, governs: false },
    });
    return true;
  });

async function teamsHolding({ store }: Context, { organizationId, email }: Removal): Promise<TeamRecord[]> {
  const memberships = await store.query({ collection: collections.teamMembers, where: [['email', '==', email]] });
  const ids = memberships.map(({ data }) => teamDocumentId(liftTeamMember(data).teamId));
  return (await store.getMany(collections.teams, ids))
    .flatMap((each) => read(each, liftTeam)?.data ?? [])
    .filter((team) => team.organizationId === organizationId)
    .sort((a, b) => a.teamId - b.teamId);
}

function stillHeld(email: string, teams: readonly TeamRecord[]): Problem {
  const named = teams.map(({ teamId, name }) => `${teamId} (${name})`).join(', ');
  return new Problem('conflict', `${email} is still a member of these teams of the organization: ${named}.`, {
    advice: 'Remove them from the teams first, or use the force option to remove them from the teams as well.',
    members: { teams: teams.map(({ teamId, name }) => ({ teamId, name })) },
  });
}

/** Reads the member; undefined if the mark is no longer ours. */
const marked = async (
  reader: Parameters<typeof readOrganizationMembers>[0],
  { organizationId, email, mark }: Removal,
) => {
  const member = (await readOrganizationMembers(reader, organizationId, [email])).get(email);
  return { member, ours: member?.leaving === mark };
};

const unmark = (context: Context, removal: Removal): Promise<void> =>
  transact(context, async (transaction) => {
    const { member, ours } = await marked(transaction, removal);
    if (!ours || member === undefined) return;
    transaction.write({
      kind: 'update',
      collection: collections.organizationMembers,
      id: organizationMemberId(removal.organizationId, removal.email),
      data: { leaving: undefined, governs: member.role === 'admin' },
    });
  });

const leaveTeam = (context: Context, { organizationId, email, actor }: Removal, teamId: number): Promise<void> =>
  transact(context, async (transaction) => {
    const team = await readTeam(transaction, teamId);
    const member = (await readTeamMembers(transaction, teamId, [email])).get(email);
    if (team?.organizationId !== organizationId || member === undefined) return;
    transaction.write(...leaveWrites(context, team, member, actor));
  });

/** False: another removal has taken over, and may have refused. */
const deleteMember = (context: Context, removal: Removal): Promise<boolean> =>
  transact(context, async (transaction) => {
    const { organizationId, email, actor } = removal;
    const { member, ours } = await marked(transaction, removal);
    if (member === undefined) return true;
    if (!ours) return false;
    transaction.write(
      {
        kind: 'delete',
        collection: collections.organizationMembers,
        id: organizationMemberId(organizationId, email),
      },
      eventWrite(context, {
        organizationId,
        actor,
        action: 'member-removed',
        email,
        before: viewOfMember(member),
        after: null,
      }),
    );
    return true;
  });
