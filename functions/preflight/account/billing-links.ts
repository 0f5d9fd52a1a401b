/** How many projects the billing account pays for. Google does not say how many it may pay for. */
import { defineFinding } from '../../engine/finding.js';
import { accountOf } from '../../steps/cloud/billing.js';
import { lastProject, likelyBy } from '../past.js';

/** Google's limit for young accounts. */
const usualLimit = 5;

export const billingLinks = defineFinding({
  code: 'billing-links',
  title: 'Billing links left',
  why: 'An account pays for a limited number of projects. Deleted ones count until they are unlinked.',
  by: 'bootstraps',
  standsOn: 'billing-account',
  about: ['billingAccount', 'folderId'],
  async ask(asking) {
    const account = accountOf(asking.intent);
    const [linked, past] = await Promise.all([asking.context.cloud.billing.linked(account), lastProject(asking)]);
    return { account, linked, likely: likelyBy(past, 'billing', ['cloud-quota']) };
  },
  judge({ account, linked, likely }) {
    const what = `${account} pays for ${linked} ${linked === 1 ? 'project' : 'projects'}. Google does not say how many it may pay for`;
    const mend = `See them: gcloud billing projects list --billing-account=${account.replace(/^billingAccounts\//, '')}`;
    if (likely === undefined && linked >= usualLimit) {
      return { state: 'warning', what: `${what}. Young accounts may pay for ${usualLimit}`, mend };
    }
    return { state: 'unknown', what, mend, likely };
  },
});
