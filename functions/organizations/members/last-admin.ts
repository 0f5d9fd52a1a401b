/**
 * Ensures that an organization keeps an admin, without one document in which all its changes would collide. A change that
 * takes an admin away reads another admin in the same transaction, as a witness. Two changes that take away each other's
 * witness cannot both commit.
 */
import { collections } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Transaction } from '../../store/store.js';
import { liftOrganizationMember } from '../documents.js';
import { readOrganizationMembers } from '../rights.js';
import { busy, transact } from '../transact.js';
import { stayWrites } from './leaving.js';

const rounds = 5;
const candidatesAtOnce = 3;

/** Aborts a transaction that needs another witness than it has. Nothing is written. */
class NoWitness extends Error {}

/**
 * `change` calls `checkAnother` before it takes the admin `email` away. It may run several times. Throws a conflict if there
 * is no other admin.
 */
export async function keepingAnAdmin<T>(
  context: Pick<Context, 'store' | 'clock' | 'random' | 'config'>,
  organizationId: string,
  email: string,
  change: (checkAnother: () => Promise<void>) => (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const attempt = (witness: string | undefined, alone = false) =>
    transact(context, (transaction) =>
      change(async () => {
        if (alone) throw lastAdmin(email);
        const found =
          witness === undefined
            ? undefined
            : (await readOrganizationMembers(transaction, organizationId, [witness])).get(witness);
        if (found?.role !== 'admin') throw new NoWitness();
        transaction.write(...stayWrites(context.clock, found));
      })(transaction),
    );

  // Most changes take no admin away, so the first round looks for no witness.
  let witnesses: readonly (string | undefined)[] = [undefined];
  for (let round = 0; round <= rounds; round++) {
    for (const witness of witnesses) {
      try {
        return await attempt(witness);
      } catch (error) {
        if (!(error instanceof NoWitness)) throw error;
      }
    }
    witnesses = await otherAdmins(context, organizationId, email);
    // Run once more without a witness, so that any other objection is reported first.
    if (witnesses.length === 0) return attempt(undefined, true);
  }
  throw busy();
}

export const lastAdmin = (email: string): Problem =>
  new Problem('conflict', `${email} is the last admin of the organization.`, {
    advice: 'Make another member an admin first.',
  });

/** Admins who stay come first. Otherwise those who are leaving, since the change can wait for the end of their removal. */
async function otherAdmins(
  { store }: Pick<Context, 'store'>,
  organizationId: string,
  email: string,
): Promise<string[]> {
  for (const [field, value] of [
    ['governs', true],
    ['role', 'admin'],
  ] as const) {
    const found = await store.query({
      collection: collections.organizationMembers,
      where: [
        ['organizationId', '==', organizationId],
        [field, '==', value],
      ],
      limit: candidatesAtOnce + 1,
    });
    const others = found.map(({ data }) => liftOrganizationMember(data).email).filter((each) => each !== email);
    if (others.length > 0) return others;
  }
  return [];
}

/** Whether the organization has another admin. Reads outside of any transaction, so the answer may be out of date. */
export const hasOtherAdmin = async (
  context: Pick<Context, 'store'>,
  organizationId: string,
  email: string,
): Promise<boolean> => (await otherAdmins(context, organizationId, email)).length > 0;
