/** Whether the billing account is there and open. */
import { defineFinding, type Intent, ok, stopFor } from '../finding.js';

const idOf = ({ options }: Intent): string => options.billingAccount.replace(/^billingAccounts\//, '');

/** As Google names it: `billingAccounts/<id>`. */
export const accountOf = (intent: Intent): string => `billingAccounts/${idOf(intent)}`;

export const billingAccount = defineFinding({
  code: 'billing-account',
  title: 'Billing account',
  why: 'It pays for the project. Without one that is open, no VM is made.',
  by: 'bootstraps',
  mustBeAsked: true,
  about: ['billingAccount'],
  onResume: 'changed',
  ask: ({ context, intent }) => context.cloud.billing.account(accountOf(intent)),
  judge(found, intent) {
    const id = idOf(intent);
    if (found === undefined) {
      return stopFor(
        ['billingAccount'],
        `names ${id}, which plinth cannot see`,
        `Check --billing-account. If it is right, ask its administrator to grant plinth's service accounts their roles on ${id}.`,
      );
    }
    if (found.open === true) return ok(`${id} is open`);
    return stopFor(
      ['billingAccount'],
      `names ${id}, which is closed`,
      'Give another --billing-account, or have that one opened again.',
    );
  },
});
