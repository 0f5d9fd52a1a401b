/** What bootstraps have cost: a caller's own, or everybody's for operators. */
import type { costRoutes } from '../../../shared/bootstrap/routes.js';
import { listBootstraps } from '../../bootstraps/find.js';
import type { Context } from '../../context.js';
import { costsOf } from '../../cost/costs.js';
import type { StoredBootstrap } from '../../engine/record/documents.js';
import type { Caller } from '../../identity/auth.js';
import type { Handlers } from '../router.js';
import { seenBy } from './listed.js';
import { checkOperator } from './operators.js';

export const costHandlers = (context: Context): Handlers<typeof costRoutes> => ({
  async getCosts({ caller, query: { by, all, from, to } }) {
    if (all) checkOperator(caller, "Everybody's costs are for operators.");
    const counted = all ? await listBootstraps(context) : await ofCaller(context, caller, by === 'team');
    const { config, clock } = context;
    return { status: 200, body: costsOf(config.prices, counted, by, { from, to }, clock.now()) };
  },
});

/** The caller's own. By team also what others have begun for the caller's teams. */
async function ofCaller(context: Context, caller: Caller, byTeam: boolean): Promise<StoredBootstrap[]> {
  const { bootstraps, teams } = await seenBy(context, caller, byTeam);
  return bootstraps.filter(
    ({ data: { owner, team } }) => owner === caller.email || (byTeam && team !== undefined && teams.has(team)),
  );
}
