/**
 * Decides who may do what with a bootstrap. Its owner and operators may do everything. People it is shared with may see it,
 * follow it, read its config and extend it. Members of its teams may see it, and admins of these teams also extend, protect
 * and remove it. The teams are asked at each request. To everybody else it looks missing. Another account with the e-mail of
 * one of these people gets a `forbidden`.
 */
import { Problem } from '../../../shared/problems.js';
import { bind, checkBound } from '../../bootstraps/people/bound.js';
import { teamsOf } from '../../bootstraps/people/team-people.js';
import type { Context } from '../../context.js';
import { type BootstrapRecord, isHidden, type StoredBootstrap } from '../../engine/record/documents.js';
import { getBootstrap } from '../../engine/record/update.js';
import type { Caller } from '../../identity/auth.js';
import { bindIn, NotTheirs, type Rights, refusing, rightsIn } from '../../organizations/ownership.js';

/** Finds bootstraps for a caller. Throws `forbidden` for another account with the e-mail of one of the bootstrap's people. */
interface Sight {
  /** Throws `not-found` if the caller may not see it. */
  visible(id: string, caller: Caller): Promise<StoredBootstrap>;
  /** Also throws `forbidden` for members of its teams who are no admins. */
  extendable(id: string, caller: Caller): Promise<StoredBootstrap>;
  /** Also throws `forbidden` for those it is shared with by name. */
  governed(id: string, caller: Caller): Promise<StoredBootstrap>;
  /** Throws `forbidden` for all but its owner, operators, and admins of the team that it belongs to. */
  given(id: string, caller: Caller): Promise<StoredBootstrap>;
  /** Throws `forbidden` for all but its owner and operators. */
  owned(id: string, caller: Caller): Promise<StoredBootstrap>;
}

export interface Access extends Sight {
  /**
   * For a caller who is about to change something. It binds the bootstrap's person with this e-mail to the caller's account.
   */
  readonly changing: Sight;
}

/** In what ways a caller has to do with a bootstrap. */
interface Standing {
  readonly owns: boolean;
  readonly shares: boolean;
  /** An admin of one of its teams. */
  readonly governs: boolean;
  /** An admin of the team that it belongs to. */
  readonly governsOwner: boolean;
  /** Teams that show it to the caller. */
  readonly teams: readonly number[];
}

/** Throws `NotTheirs` only if the caller has nothing else to do with it. */
async function standingOf(context: Context, caller: Caller, data: BootstrapRecord): Promise<Standing> {
  const byName = data.owner === caller.email;
  const shares = data.sharedWith?.includes(caller.email) === true;
  if (caller.operator) return { owns: true, shares, governs: true, governsOwner: true, teams: [] };
  // Its own owner needs no team to do everything.
  if (byName && data.team === undefined) return { owns: true, shares, governs: false, governsOwner: false, teams: [] };
  let refused: NotTheirs | undefined;
  const rights = new Map<number, Rights>();
  for (const team of teamsOf(data)) {
    try {
      const found = await rightsIn(context, caller, team);
      if (found !== undefined) rights.set(team, found);
    } catch (error) {
      if (!(error instanceof NotTheirs)) throw error;
      refused ??= error;
    }
  }
  const owning = data.team === undefined ? undefined : rights.get(data.team);
  // Who leaves the team has no more to do with what belongs to it.
  const owns = byName && owning?.role !== undefined;
  if (refused !== undefined && !owns && !shares && rights.size === 0) throw refused;
  const governs = [...rights.values()].some(({ admin }) => admin);
  return { owns, shares, governs, governsOwner: owning?.admin === true, teams: [...rights.keys()] };
}

const sees = ({ owns, shares, teams }: Standing): boolean => owns || shares || teams.length > 0;

export function createAccess(context: Context): Access {
  async function look(id: string, caller: Caller): Promise<{ found: StoredBootstrap; standing: Standing }> {
    const found = await getBootstrap(context, id);
    const missing = new Problem('not-found', `There is no bootstrap ${id}.`);
    if (found === undefined || isHidden(found.data)) throw missing;
    const standing = await refusing(context, caller, standingOf(context, caller, found.data));
    if (!sees(standing)) throw missing;
    if (standing.owns || standing.shares) checkBound(context, found, caller);
    return { found, standing };
  }
  const sightOf = (after: (found: StoredBootstrap, standing: Standing, caller: Caller) => Promise<void>): Sight => {
    const those =
      (may: (standing: Standing) => boolean): Sight['visible'] =>
      async (id, caller) => {
        const { found, standing } = await look(id, caller);
        if (!may(standing)) throw refusal(found, standing);
        await after(found, standing, caller);
        return found;
      };
    return {
      visible: those(() => true),
      extendable: those(({ owns, shares, governs }) => owns || shares || governs),
      governed: those(({ owns, governs }) => owns || governs),
      given: those(({ owns, governsOwner }) => owns || governsOwner),
      owned: those(({ owns }) => owns),
    };
  };
  async function bindAll({ id, data }: StoredBootstrap, { teams }: Standing, caller: Caller): Promise<void> {
    if (caller.operator) return;
    if (data.boundTo?.[caller.email] === undefined) await bind(context, id, caller);
    if (teams.length > 0) await bindIn(context, caller, teams);
  }
  return { ...sightOf(async () => undefined), changing: sightOf(bindAll) };
}

function refusal({ data: { name, owner } }: StoredBootstrap, { shares, teams }: Standing): Problem {
  const detail =
    teams.length > 0 && !shares
      ? `${name} is shown to you by a team; only its owner, operators and, for most changes, admins of the team may do that.`
      : `${name} is shared with you; only its owner and operators may do that.`;
  return new Problem('forbidden', detail, { advice: `Ask ${owner}.` });
}
