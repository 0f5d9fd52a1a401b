/**
 * What bootstraps ask of teams: who is in one, who governs it, and that it has bootstraps. Bootstraps know nothing else of
 * organizations. Organizations read of bootstraps only what a migration and a deletion tell.
 */
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { Caller } from '../identity/auth.js';
import { read } from '../store/lift.js';
import { Conflict, type Store, type Version, type Write } from '../store/store.js';
import { liftTeam, liftTeamMember, type TeamRecord, teamDocumentId } from './documents.js';
import { bindWrites, isTheirs } from './members/membership.js';
import { noTeam, type Rights, readTeamMembers, seeTeam } from './rights.js';
import { transact } from './transact.js';

export { type Bound, boundsOf, boundsOfTeam } from './ceilings.js';
export { NotTheirs } from './members/membership.js';
export { refusing } from './members/refusal.js';
export type { Rights } from './rights.js';
export { noTeam } from './rights.js';

type Stored = Pick<Context, 'store'>;

/** A team with its members, as of one version. */
export interface Holder {
  readonly team: TeamRecord;
  readonly version: Version;
  /** E-mails, sorted. Nobody is in a deleted team. */
  readonly members: readonly string[];
}

/** The caller's role and rights. Undefined: the caller may not see the team. Throws `NotTheirs`. */
export async function rightsIn({ store }: Stored, caller: Caller, teamId: number): Promise<Rights | undefined> {
  try {
    const { role, admin } = await seeTeam(store, caller, teamId);
    return { role, admin };
  } catch (error) {
    if (error instanceof Problem && error.code === 'not-found') return undefined;
    throw error;
  }
}

/** Whether an account is a member of a living team. */
export async function isIn(
  { store }: Stored,
  teamId: number,
  caller: Pick<Caller, 'email' | 'identity'>,
): Promise<boolean> {
  const [team, members] = await Promise.all([
    store.get(collections.teams, teamDocumentId(teamId)),
    readTeamMembers(store, teamId, [caller.email]),
  ]);
  const own = members.get(caller.email);
  return read(team, liftTeam)?.data.deletedAt === undefined && own !== undefined && isTheirs(own, caller);
}

/** Ties the caller's memberships in these teams to their account, before they change something by them. */
export const bindIn = (
  context: Pick<Context, 'store' | 'clock' | 'random' | 'config'>,
  caller: Caller,
  teams: readonly number[],
): Promise<void> =>
  transact(context, async (transaction) => {
    for (const teamId of teams) {
      const own = (await readTeamMembers(transaction, teamId, [caller.email])).get(caller.email);
      transaction.write(...bindWrites(caller, own));
    }
  });

/**
 * The members are read after the team. Whoever changes them writes the team, so a commit against its version is right.
 */
export async function readHolder({ store }: { readonly store: Pick<Store, 'get' | 'query'> }, teamId: number) {
  const found = read(await store.get(collections.teams, teamDocumentId(teamId)), liftTeam);
  if (found === undefined) return undefined;
  const members =
    found.data.deletedAt === undefined
      ? await store.query({ collection: collections.teamMembers, where: [['teamId', '==', teamId]] })
      : [];
  const emails = members.map((each) => liftTeamMember(each.data).email).sort();
  return { team: found.data, version: found.version, members: emails } satisfies Holder;
}

/** Throws `not-found` for a team that is not there, or is deleted. */
export async function readLivingHolder(context: Stored, teamId: number): Promise<Holder> {
  const holder = await readHolder(context, teamId);
  if (holder === undefined || holder.team.deletedAt !== undefined) throw noTeam(teamId);
  return holder;
}

/** Keeps a commit to the members that were read. `more`: how many more living bootstraps the team owns. */
export const holdWrite = ({ team, version }: Holder, more = 0): Write => ({
  kind: 'update',
  collection: collections.teams,
  id: teamDocumentId(team.teamId),
  version,
  data: { holds: true, ...(more !== 0 && { owns: (team.owns ?? 0) + more }) },
});

/** The numbers of the teams of the caller that have bootstraps. Reads at most `most` memberships. */
export async function holdingTeamsOf({ store }: Stored, caller: Caller, most: number): Promise<number[]> {
  const memberships = await store.query({
    collection: collections.teamMembers,
    where: [['email', '==', caller.email]],
    orderBy: ['teamId', 'asc'],
    limit: most,
  });
  const own = memberships.map(({ data }) => liftTeamMember(data)).filter((each) => isTheirs(each, caller));
  const teams = await store.getMany(
    collections.teams,
    own.map(({ teamId }) => teamDocumentId(teamId)),
  );
  return teams
    .flatMap((each) => read(each, liftTeam)?.data ?? [])
    .filter(({ holds, deletedAt }) => holds === true && deletedAt === undefined)
    .map(({ teamId }) => teamId);
}

/** Teams whose members have changed since their bootstraps were looked at, the longest waiting first. */
export async function changedHolders({ store, clock }: Pick<Context, 'store' | 'clock'>, limit: number) {
  const due = await store.query({
    collection: collections.teams,
    where: [['rolesAt', '<=', clock.now().toISOString()]],
    orderBy: ['rolesAt', 'asc'],
    limit,
  });
  return due.map(({ data }) => liftTeam(data));
}

/** Ends the wait of a team, or puts it off to `rolesAt`. If its members have changed again since `seen` was read, it stays due. */
export async function settleHolder({ store }: Stored, seen: TeamRecord, rolesAt?: string): Promise<void> {
  const found = read(await store.get(collections.teams, teamDocumentId(seen.teamId)), liftTeam);
  if (found === undefined || found.data.changes !== seen.changes) return;
  const { collection, id, version } = found;
  try {
    await store.commit([{ kind: 'update', collection, id, version, data: { rolesAt } }]);
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
  }
}
