/** Links the project to the billing account that pays for it. */
import { Problem } from '../../../shared/problems.js';
import { defineStep, done } from '../../engine/step.js';
import { BillingOutput } from './outputs.js';
import { project } from './project.js';
import { settling } from './settling.js';

const nameOf = (account: string): string =>
  account.startsWith('billingAccounts/') ? account : `billingAccounts/${account}`;

/** For an account that refuses plinth. */
export const linkAdvice = (account: string): string =>
  `Check --billing-account, and ask its administrator to grant plinth's service account roles/billing.user on ${account}; then run the same command again.`;

export const billing = defineStep({
  name: 'billing',
  title: 'Billing account',
  lane: 'cloud',
  prepares: 'kept',
  needs: { project },
  describe: ({ billingAccount }) => [`project linked to ${nameOf(billingAccount)}`],
  output: BillingOutput,

  async observe({ context, bootstrap }) {
    const account = nameOf(bootstrap.options.billingAccount);
    const found = await settling(context.cloud.billing.get(bootstrap.projectId));
    // Compare in Google's form, so that an existing link is not written again.
    return found.billingAccountName === account && found.billingEnabled === true ? { account } : undefined;
  },

  async run({ context, bootstrap }) {
    const account = nameOf(bootstrap.options.billingAccount);
    const { billing } = context.cloud;
    try {
      const linked = await billing.link(bootstrap.projectId, account);
      if (linked.billingEnabled === false) {
        throw new Problem('cloud-input', `The project is linked to ${account}, but that billing account is closed.`, {
          advice: 'Open the billing account again, or give another --billing-account; then run the same command again.',
        });
      }
      return done;
    } catch (error) {
      if (!(error instanceof Problem) || !['cloud-permission', 'cloud-not-found'].includes(error.code)) throw error;
      // Either the account refuses plinth for good, or the new project doesn't know plinth yet.
      if (await billing.mayLink(account).catch(() => false)) return settling(Promise.reject(error));
      throw new Problem('cloud-permission', error.detail, {
        advice: linkAdvice(account),
        cause: error,
      });
    }
  },
  goes: 'project',
  summary: ({ account }) => account,
});
