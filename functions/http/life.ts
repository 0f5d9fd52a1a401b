/** The life of a bootstrap after it was made: extended, protected, removed. For its owner and operators. Joined in bootstraps.ts. */
import type { lifeRoutes } from '../../shared/api.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { extend, protect, requestRemoval, type StoredBootstrap, unprotect } from '../engine/bootstraps.js';
import type { AnyStep } from '../engine/step.js';
import type { Caller } from './auth.js';
import type { Handlers } from './router.js';

interface Doors {
  /** Throws `not-found` for what the caller may not see. */
  visible(id: string, caller: Caller): Promise<StoredBootstrap>;
  view(found: StoredBootstrap): Promise<BootstrapView>;
}

export function lifeHandlers(
  context: Context,
  steps: readonly AnyStep[],
  { visible, view }: Doors,
): Handlers<typeof lifeRoutes> {
  const shown = async (found: Promise<StoredBootstrap>) => ({ status: 200, body: await view(await found) });
  return {
    async extendBootstrap({ caller, params: { id }, body }) {
      await visible(id, caller);
      return shown(extend(context, steps, id, caller.email, body.ttl));
    },
    async protectBootstrap({ caller, params: { id }, body }) {
      await visible(id, caller);
      return shown(protect(context, steps, id, caller.email, body));
    },
    async unprotectBootstrap({ caller, params: { id } }) {
      await visible(id, caller);
      return shown(unprotect(context, steps, id, caller.email));
    },
    async removeBootstrap({ caller, params: { id } }) {
      const { data } = await visible(id, caller);
      const isProtected = ({ protection }: StoredBootstrap['data']) =>
        protection !== undefined && protection.until > context.clock.now().toISOString();
      const mayGo = (record: StoredBootstrap['data']) => record.removal !== undefined || !isProtected(record);
      const asked = await requestRemoval(context, steps, id, { by: caller.email, why: 'asked', mayGo });
      if (asked.data.removal === undefined && asked.data.state !== 'removed') {
        const { until, by, reason } = asked.data.protection ?? {};
        throw new Problem('conflict', `${data.name} is protected until ${until} by ${by}: ${reason}`, {
          advice: `plinth beta bootstrap-cloud unprotect ${data.projectId} takes the protection away.`,
        });
      }
      return shown(Promise.resolve(asked));
    },
  };
}
