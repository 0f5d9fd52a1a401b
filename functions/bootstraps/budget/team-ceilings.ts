/** Whether what a team owns keeps to the ceilings of the team and of its organization. */
import { amountText, microsOf } from '../../../shared/bootstrap/money.js';
import { Problem } from '../../../shared/problems.js';
import type { Config } from '../../config.js';
import { type Counts, ofTeam } from '../../engine/record/counts.js';
import type { PriceRecord } from '../../engine/record/documents.js';
import { type ByMonth, sumOf } from '../../engine/record/spend.js';
import type { Bound } from '../../organizations/ownership.js';

const raise = ({ of, id }: Bound): string =>
  of === 'Team'
    ? `ask an admin to raise it (plinth team ceilings ${id} shows it)`
    : `ask an admin of the organization to raise it (plinth org ceilings ${id} shows it)`;

/** Throws `too-many` where one more bootstrap would be beyond a ceiling. */
export function checkRoom(bounds: readonly Bound[]): void {
  for (const bound of bounds) {
    const { of, id, ceilings, living } = bound;
    if (ceilings.living === undefined || living < ceilings.living) continue;
    const whose = of === 'Team' ? 'has' : 'has in its teams';
    const count = living === 1 ? '1 living bootstrap' : `${living} living bootstraps`;
    throw new Problem('too-many', `${of} ${id} ${whose} ${count}, and its ceiling is ${ceilings.living}.`, {
      advice: `Wait until one of them is removed, or ${raise(bound)}.`,
      members: { limit: `livingPer${of}`, value: ceilings.living },
    });
  }
}

/** What has no price cannot be held against a ceiling of a month. Throws `over-ceiling`, unless the deployment takes it. */
export function checkPriced(
  { ceilings: { withoutPrice } }: Pick<Config, 'ceilings'>,
  bounds: readonly Bound[],
  { microsAnHour }: PriceRecord,
): void {
  const bound = bounds.find(({ ceilings }) => ceilings.usdPerMonth !== undefined);
  if (bound === undefined || microsAnHour > 0 || withoutPrice === 'allow') return;
  throw new Problem(
    'over-ceiling',
    `It has no price, and ${bound.of.toLowerCase()} ${bound.id} has a ceiling by the month.`,
    {
      advice:
        'Choose another --region. Or ask an operator to give the price in PLINTH_PRICES, or to set PLINTH_WITHOUT_PRICE=allow.',
      members: { limit: 'price' },
    },
  );
}

/** The teams whose months count towards a ceiling. */
export const teamsByMonth = (bounds: readonly Bound[]): readonly number[] =>
  bounds.flatMap(({ ceilings, teams }) => (ceilings.usdPerMonth === undefined ? [] : teams));

/** Throws `over-ceiling` where `more` takes a month beyond a ceiling. `counts` hold it already. */
export function checkMonths(bounds: readonly Bound[], counts: Counts, more: ByMonth): void {
  for (const bound of bounds) {
    const { of, id, ceilings, teams } = bound;
    if (ceilings.usdPerMonth === undefined) continue;
    const most = microsOf(ceilings.usdPerMonth);
    const sums = sumOf(teams.map((team) => ofTeam(counts, team).spend));
    for (const [month, sum] of Object.entries(sums)) {
      if ((more[month] ?? 0) <= 0 || sum <= most) continue;
      const [asked, ceiling] = [amountText(sum), amountText(most)];
      throw new Problem(
        'over-ceiling',
        `The bootstraps of ${of.toLowerCase()} ${id} would cost ${asked} USD in ${month}, and its ceiling is ${ceiling}.`,
        {
          advice: `Give a shorter time, or --spot-vms. Or ${raise(bound)}.`,
          members: { limit: `monthOf${of}`, month, ceiling, asked },
        },
      );
    }
  }
}
