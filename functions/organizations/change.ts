/**
 * What all changes share. A rule gets what the caller may see, and returns what becomes of it. With what it writes, the commit
 * tells the events, binds the caller's memberships, and counts the team's changes.
 */
import type { Caller } from '../identity/auth.js';
import type { Transaction, Write } from '../store/store.js';
import type { TeamRecord } from './documents.js';
import { eventWrite, type Told } from './events/events.js';
import { bindWrites } from './members/membership.js';
import { checkAdmin, type SeenOrganization, type SeenTeam, seeOrganization, seeTeam } from './rights.js';
import { type TeamFields, teamChange } from './teams/documents.js';

export interface Effect<T> {
  readonly result: T;
  readonly writes?: readonly Write[];
  /** Without one, nothing changes of which anybody is told. */
  readonly events?: readonly Omit<Told, 'organizationId' | 'teamId' | 'actor'>[];
}

export interface TeamEffect<T> extends Effect<T> {
  /** Of the team's own document. */
  readonly team?: TeamFields;
}

type Rule<Seen, E> = (seen: Seen, transaction: Transaction) => E | Promise<E>;

/** A change of an organization by one of its admins. The rule sees the memberships of `emails`. */
export const asAdmin =
  <T>(caller: Caller, organizationId: string, emails: readonly string[], rule: Rule<SeenOrganization, Effect<T>>) =>
  async (transaction: Transaction): Promise<T> => {
    const seen = await seeOrganization(transaction, caller, organizationId, emails);
    checkAdmin(seen, 'organization');
    const { result, writes = [], events = [] } = await rule(seen, transaction);
    if (events.length > 0) transaction.write(...bindWrites(caller, seen.own));
    transaction.write(
      ...writes,
      ...events.map((told, nth) => eventWrite(transaction, { organizationId, actor: caller.email, ...told }, { nth })),
    );
    return result;
  };

/** A change of a team by somebody who sees it. The rule sees the memberships of `emails`. */
export const asSeer =
  <T>(caller: Caller, teamId: number, emails: readonly string[], rule: Rule<SeenTeam, TeamEffect<T>>) =>
  async (transaction: Transaction): Promise<T> => {
    const seen = await seeTeam(transaction, caller, teamId, emails);
    const effect = await rule(seen, transaction);
    if ((effect.events ?? []).length > 0) transaction.write(...bindWrites(caller, seen.own, seen.governor));
    transaction.write(...teamWrites(transaction, caller.email, seen.team, effect));
    return effect.result;
  };

/** A change of a team by an admin of it, or of its organization. */
export const asTeamAdmin = <T>(
  caller: Caller,
  teamId: number,
  emails: readonly string[],
  rule: Rule<SeenTeam, TeamEffect<T>>,
) =>
  asSeer(caller, teamId, emails, (seen, transaction) => {
    checkAdmin(seen, 'team');
    return rule(seen, transaction);
  });

/** Every event of a change is one version of the team. */
export function teamWrites(
  transaction: Transaction,
  actor: string,
  team: TeamRecord,
  { writes = [], team: fields = {}, events = [] }: Omit<TeamEffect<unknown>, 'result'>,
): Write[] {
  if (events.length === 0) return [...writes];
  const { teamId, organizationId, changes } = team;
  return [
    ...writes,
    teamChange(team, fields, events.length),
    ...events.map((told, nth) =>
      eventWrite(transaction, { organizationId, teamId, version: changes + 1 + nth, actor, ...told }, { nth }),
    ),
  ];
}
