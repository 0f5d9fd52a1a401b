/** Links the project to the billing account that pays for it. */
import { Problem, type ProblemCode } from '../../../shared/problems.js';
import { defineFinding, faultOf, ok, stop } from '../../engine/finding.js';
import { defineStep, done } from '../../engine/step.js';
import { BillingOutput } from './outputs.js';
import { project } from './project.js';
import { settling } from './settling.js';

const idOf = (account: string): string => account.replace(/^billingAccounts\//, '');

/** As Google names it: `billingAccounts/<id>`. */
export const accountOf = ({ options }: { readonly options: { readonly billingAccount: string } }): string =>
  `billingAccounts/${idOf(options.billingAccount)}`;

const unseen = (account: string): Problem =>
  faultOf(
    ['billingAccount'],
    `names ${idOf(account)}, which plinth cannot see`,
    `Check --billing-account. If it is right, ask its administrator to grant plinth's service accounts their roles on ${idOf(account)}.`,
  );

const closed = (account: string, code?: ProblemCode): Problem =>
  faultOf(
    ['billingAccount'],
    `names ${idOf(account)}, which is closed`,
    'Give another --billing-account, or have that one opened again.',
    code,
  );

const mayNotLink = (account: string): Problem =>
  faultOf(
    ['billingAccount'],
    `names ${account}, to which plinth may link no project`,
    `Check --billing-account, and ask its administrator to grant plinth's service account roles/billing.user on ${account}; then run the same command again.`,
    'cloud-permission',
  );

const isOpen = defineFinding({
  code: 'billing-account',
  title: 'Billing account',
  why: 'It pays for the project. Without one that is open, no VM is made.',
  by: 'bootstraps',
  mustBeAsked: true,
  about: ['billingAccount'],
  onResume: 'changed',
  ask: ({ context, intent }) => context.cloud.billing.account(accountOf(intent)),
  judge(found, intent) {
    const account = accountOf(intent);
    if (found === undefined) return stop(unseen(account));
    return found.open === true ? ok(`${idOf(account)} is open`) : stop(closed(account));
  },
});

const isLinkable = defineFinding({
  code: 'billing-link',
  title: 'Link to the billing account',
  why: 'A project that may not be linked to its account can make no VM.',
  by: 'check',
  standsOn: 'billing-account',
  about: ['billingAccount'],
  ask: ({ context, intent }) => context.cloud.billing.mayLink(accountOf(intent)),
  judge(may, intent) {
    const account = accountOf(intent);
    return may ? ok(`plinth may link projects to ${account}`) : stop(mayNotLink(account));
  },
});

export const billing = defineStep({
  name: 'billing',
  title: 'Billing account',
  lane: 'cloud',
  prepares: 'kept',
  needs: { project },
  describe: (options) => [`project linked to ${accountOf({ options })}`],
  output: BillingOutput,
  checks: [isOpen, isLinkable],

  async observe({ context, bootstrap }) {
    const account = accountOf(bootstrap);
    const found = await settling(context.cloud.billing.get(bootstrap.projectId));
    // Compare in Google's form, so that an existing link is not written again.
    return found.billingAccountName === account && found.billingEnabled === true ? { account } : undefined;
  },

  async run({ context, bootstrap }) {
    const account = accountOf(bootstrap);
    const { billing } = context.cloud;
    try {
      const linked = await billing.link(bootstrap.projectId, account);
      if (linked.billingEnabled === false) throw closed(account, 'cloud-input');
      return done;
    } catch (error) {
      if (!(error instanceof Problem) || !['cloud-permission', 'cloud-not-found'].includes(error.code)) throw error;
      // Either the account refuses plinth for good, or the new project doesn't know plinth yet.
      if (await billing.mayLink(account).catch(() => false)) return settling(Promise.reject(error));
      throw Object.assign(mayNotLink(account), { cause: error });
    }
  },
  goes: 'project',
  summary: ({ account }) => account,
});
