/** Teams as a caller names them in requests about bootstraps. */
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Caller } from '../../identity/auth.js';
import { noTeam, type Rights, refusing, rightsIn } from '../../organizations/ownership.js';

/** Throws `not-found` if the caller may not see the team, and `forbidden` if the membership is another account's. */
export async function checkSeen(context: Context, caller: Caller, team: number): Promise<Rights> {
  const rights = await refusing(context, caller, rightsIn(context, caller, team));
  if (rights === undefined) throw noTeam(team);
  return rights;
}

/** A bootstrap belongs to a team of which whoever begins it is a member. */
export async function checkMember(context: Context, caller: Caller, team: number | undefined): Promise<void> {
  if (team === undefined) return;
  const { role } = await checkSeen(context, caller, team);
  if (role !== undefined) return;
  throw new Problem('forbidden', `${caller.email} is no member of team ${team}, and only members bootstrap for it.`, {
    errors: [{ path: '--team', message: 'is a team that you are no member of' }],
    advice: 'Become a member of the team first.',
  });
}
