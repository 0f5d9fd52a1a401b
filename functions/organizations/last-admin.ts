/**
 * An organization keeps an admin, without a document that all its changes would meet in: whoever takes an admin away
 * reads another one in the same transaction, a witness. Two who take each other's witness away cannot both commit.
 */
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { Transaction } from '../store/store.js';
import { liftOrganizationMember } from './documents.js';
import { stayWrites } from './leaving.js';
import { readOrganizationMembers } from './rights.js';
import { busy, transact } from './transact.js';

const rounds = 5;
const candidatesAtOnce = 3;

/** Thrown out of a transaction that needs another witness than it was given; nothing is written. */
class NoWitness extends Error {}

/**
 * `change` calls `checkAnother` before it takes the admin `email` away. It may run several times. A conflict comes out if no
 * other admin stands.
 */
export async function keepingAnAdmin<T>(
  context: Pick<Context, 'store' | 'clock'>,
  organizationId: string,
  email: string,
  change: (transaction: Transaction, checkAnother: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const attempt = (witness: string | undefined, alone = false) =>
    transact(context, (transaction) =>
      change(transaction, async () => {
        if (alone) throw lastAdmin(email);
        const found =
          witness === undefined
            ? undefined
            : (await readOrganizationMembers(transaction, organizationId, [witness])).get(witness);
        if (found?.role !== 'admin') throw new NoWitness();
        transaction.write(...stayWrites(context.clock, found));
      }),
    );

  // Most changes take no admin away and need none.
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
    // What else there is against the change is looked at once more, and said first.
    if (witnesses.length === 0) return attempt(undefined, true);
  }
  throw busy();
}

export const lastAdmin = (email: string): Problem =>
  new Problem('conflict', `${email} is the last admin of the organization.`, {
    advice: 'Make another member an admin first.',
  });

/** Those who stay; else one who is leaving, who is waited for. */
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

/** Whether somebody else governs. Asked before anything is written, and outside of any transaction. */
export const hasOtherAdmin = async (
  context: Pick<Context, 'store'>,
  organizationId: string,
  email: string,
): Promise<boolean> => (await otherAdmins(context, organizationId, email)).length > 0;
