/** What bootstraps have cost: a caller's own, or everybody's for operators. */
import type { costRoutes } from '../../../shared/bootstrap/routes.js';
import { Problem } from '../../../shared/problems.js';
import { listBootstraps } from '../../bootstraps/find.js';
import type { Context } from '../../context.js';
import { costsOf } from '../../cost/costs.js';
import type { Handlers } from '../router.js';
import { seenBy } from './listed.js';

export const costHandlers = (context: Context): Handlers<typeof costRoutes> => ({
  async getCosts({ caller, query: { by, all, from, to } }) {
    if (all && !caller.operator) throw new Problem('forbidden', "Everybody's costs are for operators.");
    const found = all ? await listBootstraps(context) : await seenBy(context, caller);
    const { email } = caller;
    // By team also what others have begun for the caller's teams.
    const counted = all
      ? found
      : found.filter(({ data }) => data.owner === email || (by === 'team' && data.team !== undefined));
    const { config, clock } = context;
    return { status: 200, body: costsOf(config.prices, counted, by, { from, to }, clock.now()) };
  },
});
