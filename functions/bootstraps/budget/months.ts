/**
 * What the bootstraps of an owner, a team, an organization and the deployment may spend by the month. One rule holds each budget:
 * a change may not take a month beyond it. The counts change in the same commit as the bootstrap.
 */
import { amountText, microsOf } from '../../../shared/bootstrap/money.js';
import { Problem } from '../../../shared/problems.js';
import type { Config } from '../../config.js';
import type { Context } from '../../context.js';
import {
  type Counts,
  countMore,
  countWrites,
  isCounted,
  ofOwner,
  ofTeam,
  readCounts,
  withTeams,
} from '../../engine/record/counts.js';
import type { BootstrapRecord, PriceRecord } from '../../engine/record/documents.js';
import { type ByMonth, type Counted, moreThan, spendOf, sumOf } from '../../engine/record/spend.js';
import { type Bound, boundsOfTeam } from '../../organizations/ownership.js';
import type { Write } from '../../store/store.js';

/** What somebody may spend in any month, with what they spend by the change, and what the change adds. */
interface MonthBudget {
  /** Names it in the problem. */
  readonly limit: string;
  readonly whose: string;
  readonly micros: number;
  readonly spend: ByMonth;
  readonly more: ByMonth;
  /** The budget's amount, as the end of a sentence. */
  readonly most: (amount: string) => string;
  readonly advice: string;
}

/** Throws `over-ceiling` for a month that the change takes beyond a budget. A month that becomes cheaper is always right. */
function checkMonths(budgets: readonly MonthBudget[]): void {
  for (const { limit, whose, micros, spend, more, most, advice } of budgets) {
    for (const [month, sum] of Object.entries(spend)) {
      if ((more[month] ?? 0) <= 0 || sum <= micros) continue;
      const [asked, ceiling] = [amountText(sum), amountText(micros)];
      throw new Problem('over-ceiling', `${whose} would cost ${asked} USD in ${month}, and ${most(ceiling)}.`, {
        advice,
        members: { limit, month, ceiling, asked },
      });
    }
  }
}

/** The deployment's own budgets, which its operators set: that of each owner, and that of all. */
function budgetsOfDeployment(
  { monthOfOwner, month }: Config['ceilings'],
  counts: Counts,
  owner: string,
  more: { readonly ofOwner: ByMonth; readonly inAll: ByMonth },
): MonthBudget[] {
  const most = (amount: string): string => `${amount} is the most here`;
  const advice = 'Give a shorter --project-ttl, --spot-vms, or --max-cost. Or ask an operator to raise the ceiling.';
  const own = { limit: 'monthOfOwner', whose: `The bootstraps of ${owner}`, spend: ofOwner(counts, owner).spend };
  const all = { limit: 'month', whose: 'All bootstraps', spend: counts.all.spend ?? {} };
  return [
    ...(monthOfOwner === undefined ? [] : [{ ...own, micros: monthOfOwner, more: more.ofOwner, most, advice }]),
    ...(month === undefined ? [] : [{ ...all, micros: month, more: more.inAll, most, advice }]),
  ];
}

/** The budgets of its team and of the team's organization, which their admins set. */
const budgetsOfTeam = (bounds: readonly Bound[], counts: Counts, more: ByMonth): MonthBudget[] =>
  bounds.flatMap((bound) => {
    const { of, id, ceilings, teams } = bound;
    if (ceilings.usdPerMonth === undefined) return [];
    return {
      limit: `monthOf${of}`,
      whose: `The bootstraps of ${of.toLowerCase()} ${id}`,
      micros: microsOf(ceilings.usdPerMonth),
      spend: sumOf(teams.map((team) => ofTeam(counts, team).spend)),
      more,
      most: (amount: string) => `its ceiling is ${amount}`,
      advice: `Give a shorter time, or --spot-vms. Or ${raise(bound)}.`,
    };
  });

/** Who raises a budget of a team or an organization. */
export const raise = ({ of, id }: Bound): string =>
  of === 'Team'
    ? `ask an admin to raise it (plinth team ceilings ${id} shows it)`
    : `ask an admin of the organization to raise it (plinth org ceilings ${id} shows it)`;

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

/**
 * The counts with what a record is to become in place of what it was. Throws `over-ceiling` for a month that would pass its
 * budget. `bounds`: those of its team. Undefined: nothing changes.
 */
export function countSpend(
  { ceilings }: Pick<Config, 'ceilings'>,
  counts: Counts,
  change: { readonly before?: Counted; readonly after: Counted },
  at: string,
  bounds: readonly Bound[] = [],
): Counts | undefined {
  const { before, after } = change;
  const moves = before !== undefined && before.owner !== after.owner;
  const was = before === undefined ? {} : spendOf(before);
  const more = moreThan(was, spendOf(after));
  if (Object.keys(more).length === 0 && !moves) return undefined;
  const left = moves ? countMore(counts, before, { spend: moreThan(was, {}) }, at) : counts;
  const owned = moves ? spendOf(after) : more;
  const counted = countMore(left, after, { spend: owned }, at);
  checkMonths([
    ...budgetsOfDeployment(ceilings, counted, after.owner, { ofOwner: owned, inAll: more }),
    ...budgetsOfTeam(bounds, counted, more),
  ]);
  return counted;
}

/** The counts that a bootstrap changes. */
export const countsFor = (
  { store }: Pick<Context, 'store'>,
  { owner, team }: Pick<Counted, 'owner' | 'team'>,
): Promise<Counts> => readCounts({ store }, { owners: [owner], teams: team === undefined ? [] : [team] });

/** Against the versions that were read, so that no two changes pass a ceiling together. Throws `over-ceiling`. */
export async function spendWrites(
  { store, config }: Pick<Context, 'store' | 'config'>,
  before: BootstrapRecord,
  after: BootstrapRecord,
  at: string,
): Promise<Write[]> {
  if (after.price === undefined) return [];
  const found = await countsFor({ store }, after);
  const bounds = after.team === undefined ? [] : await boundsOfTeam({ store }, after.team);
  // What was admitted without a price keeps that. Nothing comes to it later.
  if (before.price?.microsAnHour !== after.price.microsAnHour) checkPriced(config, bounds, after.price);
  const counts = await withTeams({ store }, found, teamsByMonth(bounds));
  const counted = countSpend(config, counts, { before, after }, at, bounds);
  return counted === undefined || !isCounted(counts) ? [] : countWrites(counts, counted);
}

/** Throws `over-ceiling` if a new bootstrap would take a month beyond a ceiling. The commit that makes it counts again. */
export async function checkSpendOfNew(
  { store, config }: Pick<Context, 'store' | 'config'>,
  after: Counted,
  at: string,
  bounds: readonly Bound[],
): Promise<void> {
  const { month, monthOfOwner } = config.ceilings;
  const teams = teamsByMonth(bounds);
  if (month === undefined && monthOfOwner === undefined && teams.length === 0) return;
  const counts = await withTeams({ store }, await countsFor({ store }, after), teams);
  countSpend(config, counts, { after }, at, bounds);
}

/** The same for what a resume would change. */
export async function checkSpendOfResume(
  context: Pick<Context, 'store' | 'config'>,
  before: BootstrapRecord,
  after: BootstrapRecord,
  at: string,
): Promise<void> {
  if (Object.keys(moreThan(spendOf(before), spendOf(after))).length === 0) return;
  await spendWrites(context, before, after, at);
}
