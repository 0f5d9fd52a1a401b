/** Whether the function that makes projects may link them to the billing account. */
import { linkAdvice } from '../../steps/cloud/billing.js';
import { defineFinding, ok, stopFor } from '../finding.js';
import { accountOf } from './billing-account.js';

export const billingLink = defineFinding({
  code: 'billing-link',
  title: 'Link to the billing account',
  why: 'A project that may not be linked to its account can make no VM.',
  by: 'check',
  standsOn: 'billing-account',
  about: ['billingAccount'],
  async ask({ context, intent }) {
    const account = accountOf(intent);
    return { account, may: await context.cloud.billing.mayLink(account), advice: linkAdvice(account) };
  },
  judge: ({ account, may, advice }) =>
    may
      ? ok(`plinth may link projects to ${account}`)
      : stopFor(
          ['billingAccount'],
          `names ${account}, to which plinth may link no project`,
          advice,
          'cloud-permission',
        ),
});
