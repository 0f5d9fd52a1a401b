/** Counts what a changed bootstrap comes to, in the same commit as the change. */
import { collections } from '../../shared/names.js';
import type { Context } from '../context.js';
import { type BootstrapRecord, countersId, liftCounters, read } from '../engine/record/documents.js';
import { type Counted, moreThan, spendOf } from '../engine/record/spend.js';
import { type Bound, boundsOfTeam } from '../organizations/ownership.js';
import { persist } from '../store/persist.js';
import type { Write } from '../store/store.js';
import { countSpend } from './ceilings.js';
import { checkPriced } from './team-ceilings.js';

/** Against the version that was read, so that no two changes pass a ceiling together. Throws `over-ceiling`. */
export async function spendWrites(
  { store, config }: Pick<Context, 'store' | 'config'>,
  before: BootstrapRecord,
  after: BootstrapRecord,
  at: string,
): Promise<Write[]> {
  if (after.price === undefined) return [];
  const counters = read(await persist(() => store.get(collections.counters, countersId)), liftCounters);
  const bounds = after.team === undefined ? [] : await boundsOfTeam({ store }, after.team);
  // What was admitted without a price keeps that. Nothing comes to it later.
  if (before.price?.microsAnHour !== after.price.microsAnHour) checkPriced(config, bounds, after.price);
  const spend = countSpend(config, counters?.data, { before, after }, at, bounds);
  if (counters === undefined || spend === undefined) return [];
  const { collection, id, version } = counters;
  return [{ kind: 'update', collection, id, version, data: { spend } }];
}

/** Throws `over-ceiling` if a new bootstrap would take a month beyond a ceiling. The commit that makes it counts again. */
export async function checkSpendOfNew(
  { store, config }: Pick<Context, 'store' | 'config'>,
  after: Counted,
  at: string,
  bounds: readonly Bound[],
): Promise<void> {
  const { month, monthOfOwner } = config.ceilings;
  const isLimited = bounds.some(({ ceilings }) => ceilings.usdPerMonth !== undefined);
  if (month === undefined && monthOfOwner === undefined && !isLimited) return;
  const counters = read(await persist(() => store.get(collections.counters, countersId)), liftCounters);
  countSpend(config, counters?.data, { after }, at, bounds);
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
