/**
 * Takes a team out of its organization and restores the members that it had before its migration. It is for operators, to undo
 * a migration that the organization had no right to.
 */
import { collections } from '../../../shared/names.js';
import type { Member } from '../../../shared/organization/organization.js';
import type { Detached } from '../../../shared/organization/team.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Caller } from '../../identity/auth.js';
import { read } from '../../store/lift.js';
import type { Store, Transaction, Write } from '../../store/store.js';
import { type EventRecord, liftEvent, type TeamRecord, teamMemberId } from '../documents.js';
import { eventWrite } from '../events/events.js';
import { viewOfMember } from '../members/members.js';
import { checkOperator, noTeam, readTeam, seeTeam } from '../rights.js';
import { adminsIn, endOfTeamMember, membersOfTeam, newTeamMember, teamChange } from '../teams/documents.js';
import { viewOfTeam } from '../teams/teams.js';
import { busy, judged, transactInTeam } from '../transact.js';
import { noAdmin } from './move.js';

const rounds = 8;

export interface Former extends Member {
  /** The member's account, if one was bound. */
  readonly boundTo?: string | undefined;
}

interface Seen {
  readonly team: TeamRecord;
  /** Current as long as the team's `changes` stay the same. */
  readonly members: readonly Former[];
  /** The members before the migration. For a team that was created in an organization, the current ones. */
  readonly former: readonly Former[];
}

export async function detachTeam(context: Context, caller: Caller, teamId: number): Promise<Detached> {
  await checkMayDetach(context, caller, teamId);
  for (let round = 1; round <= rounds; round++) {
    const seen = await look(context, teamId);
    const detached = await transactInTeam(context, teamId, (transaction) => detach(context, transaction, caller, seen));
    if (detached !== undefined) return detached;
  }
  throw busy();
}

/** Who sees the team is told that only operators may. To everybody else it is not there. */
const checkMayDetach = (context: Context, caller: Caller, teamId: number): Promise<unknown> =>
  judged(
    context,
    async (reader) => {
      await seeTeam(reader, caller, teamId);
      checkOperator(caller);
    },
    () => true,
  );

/** Reads the team before its members. If the team is unchanged later, so are the members. */
async function look({ store }: Context, teamId: number): Promise<Seen> {
  const team = await readTeam(store, teamId);
  if (team === undefined) throw noTeam(teamId);
  if (team.organizationId === null) throw new Problem('conflict', `Team ${teamId} is in no organization.`);
  const members = await membersOfTeam({ store }, teamId);
  const event = await arrivalOf(store, team);
  checkOnRecord(team, event);
  return { team, members, former: event === undefined ? members : formerIn(event) };
}

/** The members before a migration, with the accounts that were bound to them. */
export function formerIn({ before, stayed = [], boundTo }: EventRecord): readonly Former[] {
  const { members: left } = before as { readonly members: readonly Member[] };
  return [...stayed, ...left].map((each, i) => ({ ...each, boundTo: boundTo?.[i] ?? undefined }));
}

/** The event that recorded the team's migration into its organization. Undefined: it was created there, or none is left. */
export const arrivalOf = async (
  store: Pick<Store, 'get'>,
  { migration }: TeamRecord,
): Promise<EventRecord | undefined> =>
  typeof migration === 'string'
    ? read(await store.get(collections.organizationEvents, migration), liftEvent)?.data
    : undefined;

export function checkOnRecord({ teamId, migration }: TeamRecord, arrival: EventRecord | undefined): void {
  if (typeof migration !== 'string' || arrival !== undefined) return;
  throw new Problem('conflict', `Nothing is on record of how team ${teamId} came into its organization.`, {
    advice: 'Make a new team with the members that it shall have.',
  });
}

export function differences(members: readonly Former[], former: readonly Former[]) {
  const byEmail = (of: readonly Former[]) => new Map(of.map((each) => [each.email, each]));
  const [now, then] = [byEmail(members), byEmail(former)];
  /** If an account was bound to the former membership, the current one must be bound to the same account. */
  const stays = ({ email }: Member): boolean => {
    const [is, was] = [now.get(email), then.get(email)];
    return is?.role === was?.role && (was?.boundTo === undefined || is?.boundTo === was.boundTo);
  };
  const restored = former.filter((each) => !stays(each));
  const removed = members.filter(({ email }) => !then.has(email));
  const changed = members.filter((each) => !stays(each));
  return { now, then, stays, restored, removed, changed };
}

/** Returns undefined if the team has changed since it was read. */
async function detach(
  context: Context,
  transaction: Transaction,
  caller: Caller,
  seen: Seen,
): Promise<Detached | undefined> {
  const { teamId, changes } = seen.team;
  const team = await readTeam(transaction, teamId);
  return team?.changes === changes
    ? restore(context, transaction, caller, { ...seen, team }, 'team-detached')
    : undefined;
}

/** The team stands alone again, with its former members. */
export function restore(
  context: Context,
  transaction: Transaction,
  caller: Caller,
  { team, members, former }: Seen,
  action: 'team-detached' | 'team-migration-undone',
): Detached {
  const { teamId } = team;
  if (adminsIn(former) === 0) throw noAdmin(teamId);
  const { now, then, stays, restored, removed, changed } = differences(members, former);
  const addedAt = context.clock.now().toISOString();
  const detached: TeamRecord = { ...team, organizationId: null };
  const event = eventWrite(transaction, {
    organizationId: team.organizationId,
    teamId,
    version: team.changes + 1,
    actor: caller.email,
    action,
    before: { team: viewOfTeam(team, undefined), members: changed.map(viewOfMember) },
    after: { team: viewOfTeam(detached, undefined), members: restored.map(viewOfMember) },
    stayed: former.filter(stays).map(viewOfMember),
  });
  transaction.write(
    teamChange(team, {
      organizationId: null,
      migration: undefined,
      admins: adminsIn(former),
      members: former.length,
    }),
    ...restored.map(({ email, role, boundTo }): Write => {
      const bound = boundTo === undefined ? {} : { boundTo };
      return now.has(email)
        ? {
            kind: 'update',
            collection: collections.teamMembers,
            id: teamMemberId(teamId, email),
            data: { role, ...bound },
          }
        : newTeamMember(teamId, email, role, addedAt, bound);
    }),
    ...removed.map(({ email }) => endOfTeamMember(teamId, email)),
    event,
  );
  const named = (of: readonly Member[]) => of.map(({ email }) => email).sort();
  return {
    team: viewOfTeam(detached, then.get(caller.email)?.role),
    restoredMembers: named(restored),
    removedMembers: named(removed),
  };
}
