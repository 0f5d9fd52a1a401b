/** Refuses another account with a member's e-mail. The caller gets a 403, and the admins get an event. */
import { createHash } from 'node:crypto';
import { collections } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Caller } from '../../identity/auth.js';
import { eventDocumentId, eventWrite } from '../events/events.js';
import { transact } from '../transact.js';
import { viewOfMember } from './members.js';
import { NotTheirs, placeOf } from './membership.js';

/** The work, with a `NotTheirs` of it refused. It is done outside of the transaction that the error aborted. */
export const refusing = <T>(context: Refusing, caller: Caller, work: Promise<T>): Promise<T> =>
  work.catch(async (error: unknown) => {
    throw error instanceof NotTheirs ? await refuse(context, caller, error) : error;
  });

type Refusing = Pick<Context, 'store' | 'clock' | 'random' | 'log' | 'config'>;

/** One event for each membership and account, so that nobody floods the organization's events. */
async function refuse(context: Refusing, caller: Caller, { membership, organizationId }: NotTheirs): Promise<Problem> {
  const { email, addedAt } = membership;
  const { id } = placeOf(membership);
  const once = createHash('sha256')
    .update(JSON.stringify([id, addedAt, caller.identity]))
    .digest('base64url');
  const key = `identity-refused-${once}`;
  const stands = viewOfMember(membership);
  const whose = { organizationId, ...('teamId' in membership && { teamId: membership.teamId }) };
  const isNew = await transact(context, async (transaction) => {
    const told = await transaction.get(collections.organizationEvents, eventDocumentId(whose, key));
    if (told !== undefined) return false;
    const event = {
      ...whose,
      actor: caller.email,
      action: 'identity-refused',
      email,
      before: stands,
      after: stands,
    } as const;
    transaction.write(eventWrite(transaction, event, { key }));
    return true;
  });
  // Nobody can list the events of a standalone team, so log the refusal too.
  if (isNew) context.log('WARNING', 'Another account with the e-mail of a member was refused', { membership: id });
  return new Problem(
    'forbidden',
    `The membership of ${email} is bound to the account that first changed something by it. This token has the same e-mail, and is of another account.`,
    {
      advice: `Log in with that account. If it is gone, ask an admin to remove ${email} and add it again: the membership is then of the account that first changes something by it.`,
    },
  );
}
