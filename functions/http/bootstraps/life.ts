/** Handles the life of a bootstrap after its creation: extend, protect, share, transfer, remove, restart VMs. */

import type { BootstrapView } from '../../../shared/bootstrap/bootstrap.js';
import type { lifeRoutes } from '../../../shared/bootstrap/routes.js';
import { calledBy } from '../../../shared/command-words.js';
import { Problem } from '../../../shared/problems.js';
import { extend, protect, unprotect } from '../../bootstraps/lifetime/lifetime.js';
import { lookAgain } from '../../bootstraps/lifetime/look-again.js';
import { invitedBy } from '../../bootstraps/people/invited.js';
import { share, transfer, unshare } from '../../bootstraps/people/people.js';
import { shareWithTeam, unshareWithTeam } from '../../bootstraps/people/team-shares.js';
import { planOfRemoval } from '../../bootstraps/plan.js';
import { requestRemoval } from '../../bootstraps/removal/removal.js';
import type { Context } from '../../context.js';
import type { StoredBootstrap } from '../../engine/record/documents.js';
import type { AnyStep } from '../../engine/step.js';
import { refuseLiens } from '../../steps/cloud/project-liens.js';
import { countChange } from '../rate-limit.js';
import type { Handlers } from '../router.js';
import type { Access } from './access.js';
import { checkMayOwn, checkMayShare } from './permission.js';
import { checkSeen } from './teams.js';

type View = (found: StoredBootstrap) => Promise<BootstrapView>;

const shownBy = (view: View) => async (found: Promise<StoredBootstrap>) => ({
  status: 200,
  body: await view(await found),
});

export function lifeHandlers(
  context: Context,
  steps: readonly AnyStep[],
  { changing: { extendable, governed, given, owned } }: Access,
  view: View,
): Handlers<typeof lifeRoutes> {
  const shown = shownBy(view);
  return {
    async restartVms({ caller, params: { id }, body }) {
      await owned(id, caller);
      await countChange(context, caller);
      const action = `restart-vms${body.vms === undefined ? '' : ` ${body.vms.join(' ')}`}`;
      const which = { step: 'vm', what: 'VM', keys: body.vms };
      return shown(lookAgain(context, steps, id, { actor: caller.email, action }, which));
    },
    async extendBootstrap({ caller, params: { id }, body }) {
      await extendable(id, caller);
      return shown(extend(context, steps, id, caller.email, body.ttl));
    },
    async protectBootstrap({ caller, params: { id }, body }) {
      await governed(id, caller);
      return shown(protect(context, steps, id, caller, body));
    },
    async unprotectBootstrap({ caller, params: { id } }) {
      await governed(id, caller);
      return shown(unprotect(context, steps, id, caller.email));
    },
    ...shareHandlers(context, steps, owned, view),
    async transferBootstrap({ caller, params: { id }, body }) {
      await given(id, caller);
      checkMayOwn(context.config, body.with);
      await countChange(context, caller);
      return shown(transfer(context, steps, id, caller.email, body.with));
    },
    async planRemoval({ caller, params: { id } }) {
      return { status: 200, body: planOfRemoval(steps, await governed(id, caller)) };
    },
    async removeBootstrap({ caller, params: { id }, query: { plan: agreed } }) {
      const { data } = await governed(id, caller);
      const isProtected = ({ protection }: StoredBootstrap['data']) =>
        protection !== undefined && protection.until > context.clock.now().toISOString();
      const mayGo = (record: StoredBootstrap['data']) => record.removal !== undefined || !isProtected(record);
      if (data.state !== 'removed' && data.state !== 'removing' && mayGo(data)) await refuseLienNow(context, data);
      const asked = await requestRemoval(context, steps, id, { by: caller.email, why: 'asked', mayGo, agreed });
      if (asked.data.removal === undefined && asked.data.state !== 'removed') {
        const { until, by, reason } = asked.data.protection ?? {};
        throw new Problem('conflict', `${data.name} is protected until ${until} by ${by}: ${reason}`, {
          advice: `plinth beta bootstrap-cloud unprotect ${calledBy(data)} takes the protection away.`,
        });
      }
      return shown(Promise.resolve(asked));
    },
  };
}

/** The answer names a lien at once. The removal looks again itself, so that an outage of Google does not hold up the request. */
async function refuseLienNow(context: Context, { projectId }: StoredBootstrap['data']): Promise<void> {
  try {
    await refuseLiens(context, projectId);
  } catch (error) {
    if (error instanceof Problem && error.code === 'cloud-conflict') throw error;
  }
}

type Shares = 'shareBootstrap' | 'unshareBootstrap' | 'shareBootstrapWithTeam' | 'unshareBootstrapWithTeam';

function shareHandlers(
  context: Context,
  steps: readonly AnyStep[],
  owned: Access['owned'],
  view: View,
): Pick<Handlers<typeof lifeRoutes>, Shares> {
  const shown = shownBy(view);
  const shared = async (found: Promise<StoredBootstrap>) => {
    const bootstrap = await view(await found);
    return { status: 200, body: { ...bootstrap, invited: invitedBy(bootstrap) } };
  };
  return {
    async shareBootstrap({ caller, params: { id }, body }) {
      await owned(id, caller);
      checkMayShare(context.config, body.with);
      await countChange(context, caller);
      return shared(share(context, steps, id, caller.email, body.with));
    },
    async unshareBootstrap({ caller, params: { id }, body }) {
      await owned(id, caller);
      return shown(unshare(context, steps, id, caller.email, body.with));
    },
    async shareBootstrapWithTeam({ caller, params: { id }, body: { team } }) {
      await owned(id, caller);
      await checkSeen(context, caller, team);
      await countChange(context, caller);
      return shared(shareWithTeam(context, steps, id, caller.email, team));
    },
    async unshareBootstrapWithTeam({ caller, params: { id }, body: { team } }) {
      await owned(id, caller);
      return shown(unshareWithTeam(context, steps, id, caller.email, team));
    },
  };
}
