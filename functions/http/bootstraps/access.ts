/**
 * Decides who may do what with a bootstrap. Its owner and operators may do everything. People it is shared with may see it,
 * follow it, read its config and extend it. To everybody else it looks missing. Another account with the e-mail of one of
 * these people gets a `forbidden`.
 */
import { Problem } from '../../../shared/problems.js';
import { bind, checkBound } from '../../bootstraps/bound.js';
import type { Context } from '../../context.js';
import type { StoredBootstrap } from '../../engine/record/documents.js';
import { getBootstrap } from '../../engine/record/update.js';
import type { Caller } from '../../identity/auth.js';

/** Finds bootstraps for a caller. Throws `forbidden` for another account with the e-mail of one of the bootstrap's people. */
interface Sight {
  /** Throws `not-found` if the caller may not see it. */
  visible(id: string, caller: Caller): Promise<StoredBootstrap>;
  /** Also throws `forbidden` if it is only shared with the caller. */
  owned(id: string, caller: Caller): Promise<StoredBootstrap>;
}

export interface Access extends Sight {
  /**
   * For a caller who is about to change something. It binds the bootstrap's person with this e-mail to the caller's account.
   */
  readonly changing: Sight;
}

const owns = (caller: Caller, { data }: StoredBootstrap): boolean => caller.operator || data.owner === caller.email;
const shares = (caller: Caller, { data }: StoredBootstrap): boolean => data.sharedWith?.includes(caller.email) === true;

export function createAccess(context: Context): Access {
  async function visible(id: string, caller: Caller): Promise<StoredBootstrap> {
    const found = await getBootstrap(context, id);
    if (found === undefined || !(owns(caller, found) || shares(caller, found))) {
      throw new Problem('not-found', `There is no bootstrap ${id}.`);
    }
    checkBound(context, found, caller);
    return found;
  }
  async function owned(id: string, caller: Caller): Promise<StoredBootstrap> {
    const found = await visible(id, caller);
    if (owns(caller, found)) return found;
    const { name, owner } = found.data;
    throw new Problem('forbidden', `${name} is shared with you; only its owner and operators may do that.`, {
      advice: `Ask ${owner}.`,
    });
  }
  const binding =
    (look: Sight['visible']): Sight['visible'] =>
    async (id, caller) => {
      const found = await look(id, caller);
      if (!caller.operator && found.data.boundTo?.[caller.email] === undefined) await bind(context, id, caller);
      return found;
    };
  return { visible, owned, changing: { visible: binding(visible), owned: binding(owned) } };
}
