/** Counts what a changed bootstrap comes to, in the same commit as the change. */
import type { Context } from '../../context.js';
import { type Counts, countWrites, isCounted, readCounts, withTeams } from '../../engine/record/counts.js';
import type { BootstrapRecord } from '../../engine/record/documents.js';
import { type Counted, moreThan, spendOf } from '../../engine/record/spend.js';
import { type Bound, boundsOfTeam } from '../../organizations/ownership.js';
import type { Write } from '../../store/store.js';
import { countSpend } from './ceilings.js';
import { checkPriced, teamsByMonth } from './team-ceilings.js';

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
