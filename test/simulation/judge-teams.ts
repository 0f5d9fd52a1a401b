/**
 * Teams that own bootstraps: a bootstrap keeps its team wherever that goes, counters are the sum of what there is, and nothing
 * begins beyond a ceiling of the organization that its team is in.
 */
import type { BootstrapRecord } from '../../functions/engine/record/documents.js';
import { collections } from '../../shared/names.js';
import type { Stage } from './bootstraps-stage.js';

interface Team {
  readonly teamId: number;
  readonly organizationId: string | null;
  readonly owns?: number;
  readonly deletedAt?: string;
}

/** Who is in each team now, in the order of their addresses. */
export function membersIn({ memory }: Pick<Stage, 'memory'>): ReadonlyMap<number, readonly string[]> {
  const members = new Map<number, string[]>();
  for (const { teamId, email } of Object.values(
    memory.dump([collections.teamMembers])[collections.teamMembers] ?? {},
  ) as { readonly teamId: number; readonly email: string }[]) {
    members.set(teamId, [...(members.get(teamId) ?? []), email].sort());
  }
  return members;
}

/** Called after each commit that changes bootstraps, counters, teams or organizations. */
export function createTeamsJudge(
  { memory, teams: ids }: Stage,
  wrong: (what: string) => void,
): (records: ReadonlyMap<string, BootstrapRecord>) => void {
  const teamOf = new Map<string, number | undefined>();
  let before = new Set<string>();

  const stored = <T>(collection: string): T[] => Object.values(memory.seen(collection)) as T[];

  /** A migration goes beyond a ceiling. Nothing begins there. */
  function judgeBeginning({ name, team }: BootstrapRecord, all: readonly Team[], living: ReadonlyMap<number, number>) {
    const own = all.find(({ teamId }) => teamId === team);
    if (own === undefined || own.organizationId === null) return;
    const { organizationId } = own;
    const organization = stored<{ readonly id: string; readonly ceilings?: { readonly living?: number } }>(
      collections.organizations,
    ).find(({ id }) => id === organizationId);
    const most = organization?.ceilings?.living ?? Number.POSITIVE_INFINITY;
    const inAll = all
      .filter((each) => each.organizationId === organizationId)
      .reduce((sum, { teamId }) => sum + (living.get(teamId) ?? 0), 0);
    if (inAll > most) wrong(`${name} begins as one of ${inAll} in an organization that may have ${most}`);
  }

  return (records) => {
    if (ids.size === 0) return;
    const living = new Map<number, number>();
    for (const [id, { team, state, name }] of records) {
      if (teamOf.has(id) && teamOf.get(id) !== team) wrong(`${name} was of team ${teamOf.get(id)}, and is of ${team}`);
      if (state !== 'removed' && team !== undefined) living.set(team, (living.get(team) ?? 0) + 1);
    }
    const all = stored<Team>(collections.teams);
    for (const { teamId, owns = 0 } of all) {
      const real = living.get(teamId) ?? 0;
      if (owns !== real) wrong(`${real} bootstraps of team ${teamId} live, and it says ${owns}`);
    }
    for (const [id, record] of records) {
      if (record.owner === 'pool') continue;
      teamOf.set(id, record.team);
      if (!before.has(id)) judgeBeginning(record, all, living);
    }
    before = new Set([...records].flatMap(([id, { owner }]) => (owner === 'pool' ? [] : [id])));
  };
}
