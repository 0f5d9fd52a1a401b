/**
 * Moves a team by agreement: into an organization, on to another one, or out of its organization. One side proposes, the other
 * accepts. Whoever governs both sides moves it at once.
 */
import { addSeconds } from '../../../shared/add-seconds.js';
import { collections } from '../../../shared/names.js';
import { type MigrationReply, type Transfer, transferDays } from '../../../shared/organization/team.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Caller } from '../../identity/auth.js';
import { read } from '../../store/lift.js';
import type { Transaction, Write } from '../../store/store.js';
import { liftTransfer, type TeamRecord, type TransferRecord } from '../documents.js';
import { eventWrite } from '../events/events.js';
import { bindWrites, checkTheirs, type Membership } from '../members/membership.js';
import { type Page, type Paged, pageOf } from '../page.js';
import {
  checkAdmin,
  noTeam,
  readOrganizationMembers,
  readOrganizationWithDeleted,
  readTeam,
  readTeamMembers,
  seeTeam,
} from '../rights.js';
import { membersOfTeam } from '../teams/documents.js';
import { transactInTeam } from '../transact.js';
import { checkOutsiders, divideNow, moveTeam } from './move.js';

const collection = collections.transfers;
const waitSeconds = transferDays * 86_400;

export interface TransferAsked {
  readonly teamId: number;
  /** Null: the team is to stand alone. */
  readonly organizationId: string | null;
  readonly force: boolean;
}

export type Proposed = { readonly pending: Transfer } | { readonly moved: MigrationReply };

const idOf = (organizationId: string | null): string => organizationId ?? 'standalone';
const documentId = (teamId: number, id: string): string => `${teamId}~${id}`;
const viewOf = ({ schema: _, expireAt: __, ...transfer }: TransferRecord): Transfer => transfer;

/** What somebody may decide of a move. */
interface Sides {
  readonly source: boolean;
  readonly target: boolean;
  /** Whether they see the team, and whether they see where it goes. */
  readonly seesTeam: boolean;
  readonly seesTarget: boolean;
  readonly own: readonly Membership[];
}

/** `team` is undefined where there is none. */
async function sidesOf(
  transaction: Transaction,
  { email, operator }: Pick<Caller, 'email' | 'operator'>,
  teamId: number,
  team: TeamRecord | undefined,
  to: string | null,
): Promise<Sides> {
  const from = team?.organizationId ?? null;
  const inOrganization = async (id: string | null) =>
    id === null ? undefined : (await readOrganizationMembers(transaction, id, [email])).get(email);
  const own = (await readTeamMembers(transaction, teamId, [email])).get(email);
  const inSource = await inOrganization(from);
  const inTarget = await inOrganization(to);
  const governs = (member: { readonly role: string } | undefined): boolean => operator || member?.role === 'admin';
  const isThere = team !== undefined;
  return {
    source: isThere && governs(from === null ? own : inSource),
    target: to === null ? isThere && governs(own) : governs(inTarget),
    seesTeam: isThere && (operator || own !== undefined || inSource?.role === 'admin'),
    seesTarget: operator || inTarget !== undefined,
    own: [...(isThere && own !== undefined ? [own] : []), ...[inSource, inTarget].flatMap((each) => each ?? [])],
  };
}

function checkAll({ own }: Sides, caller: Caller): void {
  for (const each of own) checkTheirs(each, caller, 'teamId' in each ? null : each.organizationId);
}

const isThere = (teamId: number): Problem => new Problem('conflict', `Team ${teamId} is there already.`);

export const proposeTransfer = (context: Context, caller: Caller, asked: TransferAsked): Promise<Proposed> =>
  transactInTeam(context, asked.teamId, async (transaction) => {
    const { teamId, organizationId: to, force } = asked;
    const team = await readTeam(transaction, teamId);
    const sides = await sidesOf(transaction, caller, teamId, team, to);
    checkAll(sides, caller);
    checkASide(sides, teamId, to);
    if (team !== undefined && sides.seesTeam && team.organizationId === to) throw isThere(teamId);
    if (team !== undefined && sides.source && sides.target) {
      return { moved: await moveNow(context, transaction, caller, { team, to, force, sides }) };
    }
    const now = context.clock.now();
    const expiresAt = addSeconds(now, waitSeconds);
    const proposal = { id: idOf(to), teamId, organizationId: to, force, proposedBy: caller.email };
    const record = { schema: 1, ...proposal, proposedAt: now.toISOString(), expiresAt, expireAt: expiresAt } as const;
    transaction.write(
      ...bindWrites(caller, ...sides.own),
      { kind: 'set', collection, id: documentId(teamId, record.id), data: record },
      told(transaction, caller, sides.source ? (team?.organizationId ?? null) : to, record, 'team-transfer-proposed'),
    );
    return { pending: viewOf(record) };
  });

/** A team or organization that the caller does not see is not there for them. */
function checkASide({ source, target, seesTeam, seesTarget }: Sides, teamId: number, to: string | null): void {
  if (source || target) return;
  if (!seesTeam && !seesTarget) throw noTeam(teamId);
  checkAdmin({ role: undefined, admin: false }, to === null || seesTeam ? 'team' : 'organization');
}

const told = (
  transaction: Transaction,
  { email: actor }: Caller,
  organizationId: string | null,
  record: TransferRecord,
  action: 'team-transfer-proposed' | 'team-transfer-refused',
): Write => {
  const [before, after] = action === 'team-transfer-proposed' ? [null, viewOf(record)] : [viewOf(record), null];
  return eventWrite(transaction, { organizationId, teamId: record.teamId, actor, action, before, after });
};

/** For admins of the team and of its organization. */
export async function listTransfers(
  { store }: Context,
  caller: Caller,
  teamId: number,
  page: Page,
): Promise<Paged<Transfer>> {
  checkAdmin(await seeTeam(store, caller, teamId), 'team');
  const found = await pageOf(
    store,
    { collection, where: [['teamId', '==', teamId]], orderBy: ['id', 'asc'] },
    page,
    liftTransfer,
  );
  return { ...found, items: found.items.map(viewOf) };
}

interface Answering {
  readonly teamId: number;
  readonly transferId: string;
}

/** The proposal, for somebody who governs one of its sides or has proposed it. */
async function look(transaction: Transaction, caller: Caller, { teamId, transferId }: Answering) {
  const to = transferId === 'standalone' ? null : transferId;
  const team = await readTeam(transaction, teamId);
  const found = read(await transaction.get(collection, documentId(teamId, transferId)), liftTransfer)?.data;
  const sides = await sidesOf(transaction, caller, teamId, team, to);
  checkAll(sides, caller);
  if (found?.proposedBy !== caller.email || !sides.seesTarget) checkASide(sides, teamId, to);
  if (found === undefined)
    throw new Problem('not-found', `No transfer of team ${teamId} to ${transferId} is proposed.`);
  return { team, found, sides, to };
}

export const acceptTransfer = (context: Context, caller: Caller, asked: Answering): Promise<MigrationReply> =>
  transactInTeam(context, asked.teamId, async (transaction) => {
    const { teamId } = asked;
    const { team, found, sides, to } = await look(transaction, caller, asked);
    const by = { email: found.proposedBy, operator: false };
    const theirs = await sidesOf(transaction, by, teamId, team, to);
    const agreed = (sides.source || theirs.source) && (sides.target || theirs.target);
    if (!agreed && found.proposedBy === caller.email) {
      throw new Problem('forbidden', 'The other side must accept it.', { advice: 'Ask one of its admins.' });
    }
    if (team === undefined || !agreed) throw outdated(found);
    if (Date.parse(found.expiresAt) <= context.clock.now().getTime()) throw outdated(found);
    if (team.organizationId === to) throw isThere(teamId);
    transaction.write({ kind: 'delete', collection, id: documentId(teamId, found.id) });
    return moveNow(context, transaction, caller, { team, to, force: found.force, sides });
  });

interface Agreed {
  readonly team: TeamRecord;
  readonly to: string | null;
  readonly force: boolean;
  /** Of whoever moves it. */
  readonly sides: Sides;
}

async function moveNow(
  context: Context,
  transaction: Transaction,
  caller: Caller,
  { team, to, force, sides }: Agreed,
): Promise<MigrationReply> {
  const members = await membersOfTeam(context, team.teamId);
  const organization = to === null ? undefined : await readOrganizationWithDeleted(transaction, to);
  if (to !== null && (organization === undefined || organization.deletedAt !== undefined)) {
    throw new Problem('conflict', `Organization ${to} is deleted, or was never there.`);
  }
  const destination = organization === undefined ? null : { organization };
  const division = await divideNow(context, transaction, destination, members);
  if (to !== null && !force) checkOutsiders(team.teamId, to, division);
  transaction.write(...bindWrites(caller, ...sides.own));
  return moveTeam(transaction, caller, team, to, division);
}

const outdated = ({ teamId, proposedBy }: TransferRecord): Problem =>
  new Problem('conflict', `What ${proposedBy} proposed for team ${teamId} does not hold any more.`, {
    advice: 'It has expired, or its proposer has lost the right to it. Propose it anew.',
  });

export const refuseTransfer = (context: Context, caller: Caller, asked: Answering): Promise<void> =>
  transactInTeam(context, asked.teamId, async (transaction) => {
    const { team, found, sides } = await look(transaction, caller, asked);
    const where = sides.source ? (team?.organizationId ?? null) : found.organizationId;
    transaction.write(
      ...bindWrites(caller, ...sides.own),
      { kind: 'delete', collection, id: documentId(asked.teamId, found.id) },
      told(transaction, caller, where, found, 'team-transfer-refused'),
    );
  });
