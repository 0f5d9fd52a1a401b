/**
 * Undoes the migration that brought a team into its present organization: the team stands alone again, with the members and
 * roles that it had. A preview names every difference first.
 */
import { addSeconds } from '../../../shared/add-seconds.js';
import { type Detached, type UndoPreview, undoableDays } from '../../../shared/organization/team.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Caller } from '../../identity/auth.js';
import { bindingOf } from '../../identity/binding.js';
import type { Transaction } from '../../store/store.js';
import type { EventRecord, TeamRecord } from '../documents.js';
import { viewOfMember } from '../members/members.js';
import { bindWrites, checkTheirs, type Membership } from '../members/membership.js';
import { checkAdmin, noTeam, readOrganizationMembers, readTeam, readTeamMembers } from '../rights.js';
import { membersOfTeam } from '../teams/documents.js';
import { transactInTeam } from '../transact.js';
import { arrivalOf, checkOnRecord, differences, type Former, formerIn, restore } from './detachment.js';
import { hasProjects, movedBootstraps, projectsStay } from './moved-bootstraps.js';
import { checkTag, tagOf } from './tag.js';

export interface UndoAsked {
  readonly teamId: number;
  /** `latest`, or the id of the event of a migration. */
  readonly migrationId: string;
  /** The tag of the preview on which the caller decided. */
  readonly ifMatch?: string | undefined;
}

interface Seen {
  readonly team: TeamRecord & { readonly organizationId: string };
  readonly arrival: EventRecord;
  readonly members: readonly Former[];
  readonly former: readonly Former[];
  /** Whether the caller may know who is in the team now. */
  readonly seesTeam: boolean;
  /** The caller's memberships: in the team, and in its organization. */
  readonly own: readonly (Membership | undefined)[];
  readonly until: string;
}

/** Bootstraps are read after the transaction, which holds up whoever changes the team. */
export async function previewUndo(
  context: Context,
  caller: Caller,
  asked: UndoAsked,
): Promise<{ readonly preview: UndoPreview; readonly tag: string }> {
  const seen = await transactInTeam(context, asked.teamId, (transaction) => look(context, transaction, caller, asked));
  return previewOf(context, seen);
}

export const undoMigration = (context: Context, caller: Caller, asked: UndoAsked): Promise<Detached> =>
  transactInTeam(context, asked.teamId, async (transaction) => {
    const seen = await look(context, transaction, caller, asked);
    await checkTag(asked.teamId, asked.ifMatch, async () => (await previewOf(context, seen)).tag);
    transaction.write(...bindWrites(caller, ...seen.own));
    return restore(context, transaction, caller, seen, 'team-migration-undone');
  });

async function look(
  context: Context,
  transaction: Transaction,
  caller: Caller,
  { teamId, migrationId }: UndoAsked,
): Promise<Seen> {
  const team = await readTeam(transaction, teamId);
  if (team === undefined) throw noTeam(teamId);
  // Events never change, so they are read outside of the transaction.
  const arrival = await arrivalOf(context.store, team);
  const former = arrival === undefined ? [] : formerIn(arrival);
  const { seesTeam, own } = await checkMay(context, transaction, caller, team, former);
  checkOnRecord(team, arrival);
  const { organizationId } = team;
  if (organizationId === null || arrival === undefined) {
    throw new Problem('conflict', `Team ${teamId} was not migrated into an organization that it is in.`, {
      advice: 'A team that was made in an organization, or has left it, has nothing to undo.',
    });
  }
  if (migrationId !== 'latest' && migrationId !== arrival.id) {
    throw new Problem('conflict', `${migrationId} is not the migration that brought team ${teamId} where it is.`, {
      advice: `That was ${arrival.id}. Only that one can be undone.`,
    });
  }
  const { team: was } = arrival.before as { readonly team: { readonly organizationId: string | null } };
  if (was.organizationId !== null) {
    throw new Problem('conflict', `Team ${teamId} came from organization ${was.organizationId}, by agreement.`, {
      advice: 'Propose a transfer back to it.',
    });
  }
  const until = addSeconds(new Date(arrival.at), undoableDays * 86_400);
  if (Date.parse(until) <= context.clock.now().getTime()) {
    throw new Problem('conflict', `The migration of team ${teamId} is more than ${undoableDays} days old.`, {
      advice: 'An operator of this deployment can still take the team out of the organization.',
    });
  }
  const members = await membersOfTeam(context, teamId);
  return { team: { ...team, organizationId }, arrival, members, former, seesTeam, own, until };
}

/**
 * Who may migrate the team may undo it. So may its former admins, unless that would give them projects. Whoever sees the team
 * otherwise gets a 403. To everybody else it is not there.
 */
async function checkMay(
  context: Context,
  transaction: Transaction,
  caller: Caller,
  team: TeamRecord,
  former: readonly Former[],
): Promise<Pick<Seen, 'seesTeam' | 'own'>> {
  const { teamId, organizationId } = team;
  const { email } = caller;
  const own = (await readTeamMembers(transaction, teamId, [email])).get(email);
  const governor =
    organizationId === null
      ? undefined
      : (await readOrganizationMembers(transaction, organizationId, [email])).get(email);
  checkTheirs(own, caller, organizationId);
  checkTheirs(governor, caller, organizationId);
  const account = bindingOf(caller);
  const wasAdmin = former.some(
    (each) => each.email === email && each.role === 'admin' && (each.boundTo ?? account) === account,
  );
  const governs = organizationId === null ? own?.role === 'admin' : governor?.role === 'admin';
  const seesTeam = caller.operator || own !== undefined || governor?.role === 'admin';
  if (!seesTeam && !wasAdmin) throw noTeam(teamId);
  const mayMigrate = governs && (!context.config.migrationConsent || own?.role === 'admin');
  checkAdmin({ role: own?.role, admin: caller.operator || mayMigrate || wasAdmin }, 'team');
  const isAdmin = caller.operator || governs || own?.role === 'admin';
  if (!isAdmin && (await hasProjects(context, team))) {
    throw projectsStay(team, 'Ask an admin of the team or of its organization, or an operator of this deployment.');
  }
  return { seesTeam, own: [own, governor] };
}

async function previewOf(context: Context, { team, arrival, members, former, seesTeam, until }: Seen) {
  const { stays, restored, removed, changed } = differences(members, former);
  const left = new Set(removed.map(({ email }) => email));
  const { organizationId } = team;
  const moving = { team, organizationId, is: members, becomes: former, goes: 'out' } as const;
  const { projectIds, shown } = await movedBootstraps(context, moving);
  const preview: UndoPreview = {
    teamId: team.teamId,
    migrationId: arrival.id,
    organizationId,
    stays: former.filter(stays).map(viewOfMember),
    returns: restored.map(viewOfMember),
    leaves: seesTeam ? removed.map(viewOfMember) : [],
    ...(!seesTeam && { counts: { leaves: removed.length } }),
    changes: changed.filter(({ email }) => !left.has(email)).map(viewOfMember),
    ...(projectIds.length > 0 && { bootstraps: [...shown], bootstrapsInAll: projectIds.length }),
    until,
  };
  return { preview, tag: tagOf([team.changes, preview, projectIds]) };
}
