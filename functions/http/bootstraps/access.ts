/**
 * Who may do what with a bootstrap. Its owner and operators: everything. Those it is shared with: see it, follow it, read its
 * config, extend it. To everybody else it is not there; another account with the e-mail of one of them is told so.
 */
import { Problem } from '../../../shared/problems.js';
import { bind, checkBound } from '../../bootstraps/bound.js';
import type { Context } from '../../context.js';
import type { StoredBootstrap } from '../../engine/record/documents.js';
import { getBootstrap } from '../../engine/record/update.js';
import type { Caller } from '../../identity/auth.js';

/** What a caller may meet of bootstraps. Throws `forbidden` for another account with the e-mail of one of its people. */
interface Sight {
  /** Throws `not-found` for what the caller may not see. */
  visible(id: string, caller: Caller): Promise<StoredBootstrap>;
  /** Throws `forbidden`, too, for whom it is only shared with. */
  owned(id: string, caller: Caller): Promise<StoredBootstrap>;
}

export interface Access extends Sight {
  /** For whoever is about to change something: from then on it is their account that counts. */
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
