/** Which accounts a bootstrap is bound to: its owner's, and those of the people who work in it. */
import { collections } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { BootstrapRecord, StoredBootstrap } from '../../engine/record/documents.js';
import { updateBootstrap } from '../../engine/record/update.js';
import { type Account, bindingOf, isAnothers } from '../../identity/binding.js';

type Bound = Pick<BootstrapRecord, 'boundTo'>;
export type Person = Account & { readonly email: string };

export const isBoundToAnother = ({ boundTo }: Bound, person: Person): boolean =>
  isAnothers(boundTo?.[person.email], person);

/** Throws `forbidden` (403) for another account with the e-mail of the owner or of a person it is shared with. */
export function checkBound({ log }: Pick<Context, 'log'>, { id, data }: StoredBootstrap, person: Person): void {
  if (!isBoundToAnother(data, person)) return;
  // A bootstrap has no admins but the operators, and they read the log.
  log('WARNING', 'Another account with the e-mail of one of its people was refused', { bootstrap: id });
  const { name, owner } = data;
  const { email } = person;
  throw new Problem(
    'forbidden',
    `The bootstrap of ${name} is bound to the account of ${email} that was the first to change something. This token has the same e-mail, and is of another account.`,
    {
      advice:
        email === owner
          ? `Log in with that account. If it is gone, ask an operator to transfer the bootstrap to somebody else, who can transfer it to ${email}.`
          : `Log in with that account. If it is gone, ask ${owner} to take the share away and give it again.`,
    },
  );
}

/** Adds the account of the person, unless one is bound already. */
export function boundAs({ boundTo = {} }: Bound, { email, ...account }: Person): Bound {
  const own = boundTo[email] ?? bindingOf(account);
  return own === undefined ? {} : { boundTo: { ...boundTo, [email]: own } };
}

/** Undefined if nobody is left, because empty maps are not stored. */
export function boundWithout({ boundTo = {} }: Bound, gone: string): BootstrapRecord['boundTo'] {
  const left = Object.entries(boundTo).filter(([email]) => email !== gone);
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

/**
 * Binds the owner or a person it is shared with before they change something. Throws like `checkBound` if another account was
 * first.
 */
export async function bind(context: Context, id: string, person: Person): Promise<void> {
  await updateBootstrap(context, id, async (standing) => {
    checkBound(context, standing, person);
    const { data, version } = standing;
    const bound = boundAs(data, person);
    const isTheirs = data.owner === person.email || data.sharedWith?.includes(person.email);
    if (!isTheirs || bound.boundTo === undefined || data.boundTo?.[person.email] !== undefined) return undefined;
    return {
      transition: { record: { ...data, ...bound }, ready: [], events: [] },
      writes: [{ kind: 'update', collection: collections.bootstraps, id, version, data: bound }],
    };
  });
}
