/** Who the caller is to this deployment, and what they may begin: what `plinth doctor` asks. Joined in bootstraps.ts. */
import type { standingRoutes } from '../../../shared/bootstrap/routes.js';
import type { CallerStanding } from '../../../shared/bootstrap/standing.js';
import { readCounters } from '../../bootstraps/admission.js';
import type { Context } from '../../context.js';
import type { Handlers } from '../router.js';
import { mayBootstrap } from './permission.js';

export const standingHandlers = (context: Context): Handlers<typeof standingRoutes> => ({
  async getCaller({ caller }) {
    const { living, admission } = await readCounters(context, caller.email);
    const { state, reason } = admission;
    const body: CallerStanding = {
      email: caller.email,
      operator: caller.operator,
      mayBootstrap: mayBootstrap(context.config, caller),
      living,
      livingLimit: context.config.limits.livingPerOwner,
      admission: { state, ...(state === 'stopped' && reason !== undefined && { reason }) },
    };
    return { status: 200, body };
  },
});
