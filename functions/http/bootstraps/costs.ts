/** What bootstraps have cost: a caller's own, or everybody's for operators. */
import type { costRoutes } from '../../../shared/bootstrap/routes.js';
import { Problem } from '../../../shared/problems.js';
import { isBoundToAnother } from '../../bootstraps/bound.js';
import { listBootstraps } from '../../bootstraps/find.js';
import type { Context } from '../../context.js';
import { costsOf } from '../../cost/costs.js';
import type { Handlers } from '../router.js';

export const costHandlers = (context: Context): Handlers<typeof costRoutes> => ({
  async getCosts({ caller, query: { by, all, from, to } }) {
    if (all && !caller.operator) throw new Problem('forbidden', "Everybody's costs are for operators.");
    const found = await listBootstraps(context, all ? {} : { person: caller.email });
    const counted = all
      ? found
      : found.filter(({ data }) => data.owner === caller.email && !isBoundToAnother(data, caller));
    const { config, clock } = context;
    return { status: 200, body: costsOf(config.prices, counted, by, { from, to }, clock.now()) };
  },
});
