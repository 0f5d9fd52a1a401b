/** What bootstraps may cost here, and what happens to one that comes to cost more. */
import { amountText } from '../../../shared/bootstrap/money.js';
import { defineFinding, ok } from '../../engine/finding.js';

export const ceilings = defineFinding({
  code: 'ceilings',
  title: 'Ceilings',
  why: 'Without them only the number of bootstraps is limited.',
  by: 'bootstraps',
  about: [],
  ask: async ({ context }) => context.config.ceilings,
  judge({ microsAnHour, monthOfOwner, month, beyond }) {
    const limits = [
      ...(microsAnHour === undefined ? [] : [`${amountText(microsAnHour)} USD an hour`]),
      ...(monthOfOwner === undefined ? [] : [`${amountText(monthOfOwner)} USD a month for each owner`]),
      ...(month === undefined ? [] : [`${amountText(month)} USD a month in all`]),
    ];
    const then = beyond === 'stop' ? 'its VMs are stopped' : 'its owner is warned';
    return ok(`${limits.length === 0 ? 'none' : limits.join(', ')}; if a bootstrap passes its limit, ${then}`);
  },
});
