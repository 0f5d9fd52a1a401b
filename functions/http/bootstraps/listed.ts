/** The bootstraps that a caller sees in lists and sums: by name, by a team, or all of a deployment. */

import { findByName, listBootstraps, namedSo } from '../../bootstraps/find.js';
import { isBoundToAnother } from '../../bootstraps/people/bound.js';
import { bootstrapsOf } from '../../bootstraps/people/team-roles.js';
import type { Context } from '../../context.js';
import { isHidden, type StoredBootstrap } from '../../engine/record/documents.js';
import type { Caller } from '../../identity/auth.js';
import { holdingTeamsOf, NotTheirs, rightsIn } from '../../organizations/ownership.js';
import { checkSeen } from './teams.js';

/** Memberships that are looked at. Whoever is in more teams asks for one team. */
const mostTeams = 200;

interface Asked {
  readonly all?: boolean | undefined;
  readonly name?: string | undefined;
  readonly team?: number | undefined;
}

const newest = (a: StoredBootstrap, b: StoredBootstrap): number => (a.data.createdAt < b.data.createdAt ? 1 : -1);

/** Newest first. An operator finds any bootstrap by its name. Throws `not-found` for a team that the caller may not see. */
export async function listFor(context: Context, caller: Caller, asked: Asked): Promise<StoredBootstrap[]> {
  const { all = false, name, team } = asked;
  const meant = (found: readonly StoredBootstrap[]) => (name === undefined ? [...found] : [...namedSo(found, name)]);
  if (team !== undefined) {
    await checkSeen(context, caller, team);
    return meant(await bootstrapsOf(context, team)).sort(newest);
  }
  if (name !== undefined && caller.operator) {
    const found = await findByName(context, name);
    return found === undefined || isHidden(found.data) ? [] : [found];
  }
  return meant(all ? await listBootstraps(context) : (await seenBy(context, caller)).bootstraps);
}

interface Seen {
  /** Newest first. */
  readonly bootstraps: readonly StoredBootstrap[];
  /** Numbers of teams that the caller is in, of those that were asked for. */
  readonly teams: ReadonlySet<number>;
}

/** What is the caller's own and what is shared with them. `ofTeams`: also what their teams show them. */
export async function seenBy(context: Context, caller: Caller, ofTeams = true): Promise<Seen> {
  const [byName, teams] = await Promise.all([
    listBootstraps(context, { person: caller.email }),
    ofTeams ? holdingTeamsOf(context, caller, mostTeams) : [],
  ]);
  const roles = new Map<number, boolean>();
  /** Whether the caller is a member. Each team is asked once. */
  const isMember = async (team: number): Promise<boolean> => {
    const known = roles.get(team) ?? (await memberOf(context, caller, team));
    roles.set(team, known);
    return known;
  };
  const found = new Map<string, StoredBootstrap>();
  for (const each of byName) {
    const { owner, sharedWith = [], team } = each.data;
    if (isBoundToAnother(each.data, caller)) continue;
    // What belongs to a team is its owner's while they are in the team.
    const theirs = sharedWith.includes(caller.email) || (owner === caller.email && team === undefined);
    if (theirs || caller.operator || (team !== undefined && (await isMember(team)))) found.set(each.id, each);
  }
  for (const team of teams) {
    if (!(await isMember(team))) continue;
    for (const each of await bootstrapsOf(context, team)) found.set(each.id, each);
  }
  const own = [...roles].flatMap(([team, isTheirs]) => (isTheirs ? [team] : []));
  return { bootstraps: [...found.values()].sort(newest), teams: new Set(own) };
}

async function memberOf(context: Context, caller: Caller, team: number): Promise<boolean> {
  try {
    return (await rightsIn(context, caller, team))?.role !== undefined;
  } catch (error) {
    if (error instanceof NotTheirs) return false;
    throw error;
  }
}
