/** What a bootstrap costs, in words. The cost is always an estimate, and the text gives the day of its oldest price. */
import type { CostEstimate } from '../../shared/bootstrap/cost.js';

const money = (amount: number, { currency }: CostEstimate): string => `${amount.toFixed(2)} ${currency}`;

/** A small positive amount must not show as 0. */
const isTiny = (amount: number): boolean => amount > 0 && amount < 0.005;
const about = (amount: number, cost: CostEstimate): string =>
  isTiny(amount) ? `under 0.01 ${cost.currency}` : `about ${money(amount, cost)}`;

const dated = ({ pricesAsOf, notes = [] }: CostEstimate): string =>
  [`estimate, oldest price of ${pricesAsOf}`, ...notes].join('; ');

const notKnown = ({ unknown }: CostEstimate): string => `not known: there is no price for ${unknown.join(', ')}`;

/** One cell of a list. */
export const costSoFar = (cost: CostEstimate): string =>
  cost.soFar === undefined
    ? 'not known'
    : isTiny(cost.soFar)
      ? `<0.01 ${cost.currency}`
      : `~${money(cost.soFar, cost)}`;

/** `ending`: it is being removed, so what it would have cost by its deadline does not come. */
export type CostEnd = 'to come' | 'ending' | 'over';

/** One line. */
export function costText(cost: CostEstimate, end: CostEnd): string {
  const { soFar, untilExpiry, savedBySpot = 0 } = cost;
  if (soFar === undefined || untilExpiry === undefined) return notKnown(cost);
  const parts = [`${about(soFar, cost)} ${end === 'over' ? 'in all' : 'so far'}`];
  if (end === 'to come') parts.push(`${money(untilExpiry, cost)} by the time it is removed`);
  if (savedBySpot >= 0.005) parts.push(`${money(savedBySpot, cost)} saved by spot`);
  return `${parts.join(', ')} (${dated(cost)})`;
}

/** The cost of a plan, before anything is made. */
export function planCostText(cost: CostEstimate): string {
  const { perHour, untilExpiry, savedBySpotUntilExpiry: saved = 0 } = cost;
  if (perHour === undefined || untilExpiry === undefined) return notKnown(cost);
  const spot = saved > 0 ? `; ${money(saved, cost)} saved by spot if there is capacity` : '';
  return `${about(untilExpiry, cost)} until it is removed, ${money(perHour, cost)} an hour${spot} (${dated(cost)})`;
}

/** The cost of what has just begun. */
export const beginningCostText = (cost: CostEstimate): string =>
  cost.perHour === undefined || cost.untilExpiry === undefined
    ? notKnown(cost)
    : `${about(cost.perHour, cost)} an hour, ${money(cost.untilExpiry, cost)} until it is removed (${dated(cost)})`;
