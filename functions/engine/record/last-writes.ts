/** The writes in the commit that ends a removal. */
import { collections } from '../../../shared/names.js';
import type { Context } from '../../context.js';
import type { Document, Write } from '../../store/store.js';
import { countMore, countWrites, isCounted, readCounts } from './counts.js';
import { type BootstrapRecord, liftName, nameId, read } from './documents.js';
import { livingAmong, othersOf } from './of-team.js';
import { moreThan, spendOf } from './spend.js';

/** Deletes the files but those about things that still stand outside of the project, frees the name and uncounts the bootstrap. */
export async function lastWrites({ store }: Context, id: string, record: BootstrapRecord): Promise<Write[]> {
  const { team } = record;
  const [name, files, owning] = await Promise.all([
    store.get(collections.names, nameId(record.name)),
    store.query({ collection: collections.files, where: [['bootstrapId', '==', id]] }),
    team === undefined ? undefined : store.get(collections.teams, String(team)),
  ]);
  const found = read(name, liftName);
  // Claim and count belong together: a bootstrap that lost its claim is not counted either.
  const claimed = found?.data.bootstrapId === id ? found : undefined;
  return [
    ...files
      .filter(({ data }) => data['lookAt'] === undefined)
      .map((file): Write => ({ kind: 'delete', collection: file.collection, id: file.id })),
    ...(claimed === undefined
      ? []
      : [{ kind: 'delete', collection: claimed.collection, id: claimed.id, version: claimed.version } as const]),
    ...(owning === undefined ? [] : [await uncount({ store }, owning, { id, isClaimed: claimed !== undefined })]),
    ...(claimed === undefined ? [] : await uncountedWrites({ store }, claimed.data.owner, record)),
  ];
}

/** A team that owns any is not deleted. It may be counted for one without a claim, or not, and is counted anew. */
async function uncount(
  { store }: Pick<Context, 'store'>,
  { collection, id: team, version, data }: Document,
  { id, isClaimed }: { readonly id: string; readonly isClaimed: boolean },
): Promise<Write> {
  const owns = isClaimed
    ? Math.max(0, Number(data['owns'] ?? 0) - 1)
    : livingAmong(await othersOf({ store }, Number(team), id));
  return { kind: 'update', collection, id: team, version, data: { owns } };
}

/** It lives no more, and was counted to the end of its time. Now its real end is known. */
async function uncountedWrites(
  { store }: Pick<Context, 'store'>,
  claimant: string,
  record: BootstrapRecord,
): Promise<Write[]> {
  const { owner, team, endedAt } = record;
  const teams = team === undefined ? [] : [team];
  const counts = await readCounts({ store }, { owners: [...new Set([claimant, owner])], teams });
  if (!isCounted(counts) || endedAt === undefined) return [];
  const less = moreThan(spendOf({ ...record, endedAt: undefined }), spendOf(record));
  const ended = countMore(counts, { owner: claimant }, { living: -1 }, endedAt);
  return countWrites(counts, countMore(ended, { owner, team }, { spend: less }, endedAt));
}
