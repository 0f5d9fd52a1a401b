/**
 * Who may do what with a bootstrap. Its owner and operators: everything. Those it is shared with: see it, follow it, read its
 * config, extend it. To everybody else it is not there. Called by the handlers of the bootstrap API.
 */
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { getBootstrap, type StoredBootstrap } from '../engine/bootstraps.js';
import type { Caller } from './auth.js';

export interface Access {
  /** Throws `not-found` for what the caller may not see. */
  visible(id: string, caller: Caller): Promise<StoredBootstrap>;
  /** Throws `forbidden`, too, for whom it is only shared with. */
  owned(id: string, caller: Caller): Promise<StoredBootstrap>;
}

const owns = (caller: Caller, { data }: StoredBootstrap): boolean => caller.operator || data.owner === caller.email;
const shares = (caller: Caller, { data }: StoredBootstrap): boolean => data.sharedWith?.includes(caller.email) === true;

export function createAccess(context: Pick<Context, 'store'>): Access {
  async function visible(id: string, caller: Caller): Promise<StoredBootstrap> {
    const found = await getBootstrap(context, id);
    if (found === undefined || !(owns(caller, found) || shares(caller, found))) {
      throw new Problem('not-found', `There is no bootstrap ${id}.`);
    }
    return found;
  }
  return {
    visible,
    async owned(id, caller) {
      const found = await visible(id, caller);
      if (owns(caller, found)) return found;
      const { name, owner } = found.data;
      throw new Problem('forbidden', `${name} is shared with you; only its owner and operators may do that.`, {
        advice: `Ask ${owner}.`,
      });
    },
  };
}
