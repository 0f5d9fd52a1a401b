/** Tells a caller who they are to this deployment, and whether they may begin a bootstrap. */

import type { CallerView } from '../../../shared/bootstrap/caller.js';
import { longestLifeSeconds } from '../../../shared/bootstrap/lifetime.js';
import type { callerRoutes } from '../../../shared/bootstrap/routes.js';
import { readCounters } from '../../bootstraps/begin/admission.js';
import type { Config } from '../../config.js';
import type { Context } from '../../context.js';
import type { Handlers } from '../router.js';
import { mayBootstrap } from './permission.js';

export const callerHandlers = (context: Context): Handlers<typeof callerRoutes> => ({
  async getCaller({ caller }) {
    const { living, admission } = await readCounters(context, caller.email);
    const { state, reason } = admission;
    const body: CallerView = {
      email: caller.email,
      operator: caller.operator,
      mayBootstrap: mayBootstrap(context.config, caller),
      living,
      livingLimit: context.config.limits.livingPerOwner,
      admission: { state, ...(state === 'stopped' && reason !== undefined && { reason }) },
      machineAccess: context.config.machineAccess,
      ...(mayBootstrap(context.config, caller) && { mayUse: mayUse(context.config) }),
    };
    return { status: 200, body };
  },
});

function mayUse({ allowed, defaultParent, limits: { maxTtlSeconds } }: Config): CallerView['mayUse'] {
  const longestSeconds = Math.min(maxTtlSeconds ?? longestLifeSeconds, longestLifeSeconds);
  const named = (values: readonly string[]) => values.filter((each) => each !== '*');
  return {
    billingAccounts: named(allowed.billingAccounts),
    parents: named(allowed.parents),
    ...(defaultParent !== undefined && { defaultParent }),
    dnsZones: named(allowed.dnsZones),
    longestSeconds,
  };
}
