/** The writes in the commit that ends a removal. */
import { collections } from '../../../shared/names.js';
import type { Context } from '../../context.js';
import { persist } from '../../store/persist.js';
import type { Document, Write } from '../../store/store.js';
import { type BootstrapRecord, countersId, liftCounters, liftName, nameId, read } from './documents.js';
import { livingAmong, othersOf } from './of-team.js';
import { addSpend, moreThan, spendOf } from './spend.js';

/** Deletes the files but those about things that still stand outside of the project, frees the name and uncounts the bootstrap. */
export async function lastWrites({ store }: Context, id: string, record: BootstrapRecord): Promise<Write[]> {
  const { team } = record;
  const [name, counters, files, owning] = await persist(() =>
    Promise.all([
      store.get(collections.names, nameId(record.name)),
      store.get(collections.counters, countersId),
      store.query({ collection: collections.files, where: [['bootstrapId', '==', id]] }),
      team === undefined ? undefined : store.get(collections.teams, String(team)),
    ]),
  );
  const found = read(name, liftName);
  // Claim and count belong together: a bootstrap that lost its claim is not counted either.
  const claimed = found?.data.bootstrapId === id ? found : undefined;
  const counted = read(counters, liftCounters);
  return [
    ...files
      .filter(({ data }) => data['lookAt'] === undefined)
      .map((file): Write => ({ kind: 'delete', collection: file.collection, id: file.id })),
    ...(claimed === undefined
      ? []
      : [{ kind: 'delete', collection: claimed.collection, id: claimed.id, version: claimed.version } as const]),
    ...(owning === undefined ? [] : [await uncount({ store }, owning, { id, isClaimed: claimed !== undefined })]),
    ...(counted === undefined || claimed === undefined
      ? []
      : [
          {
            kind: 'update',
            collection: counted.collection,
            id: counted.id,
            version: counted.version,
            data: {
              ...oneLess(counted.data, claimed.data.owner),
              ...spentNow(counted.data, record),
            },
          } as const,
        ]),
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

/** It was counted to the end of its time. Now its real end is known. */
function spentNow({ spend }: ReturnType<typeof liftCounters>, record: BootstrapRecord) {
  if (record.price === undefined || record.endedAt === undefined) return {};
  const { endedAt: _, ...unended } = record;
  const less = moreThan(spendOf(unended), spendOf(record));
  return { spend: addSpend(spend, record, less, record.endedAt) };
}

function oneLess({ inAll, byOwner }: ReturnType<typeof liftCounters>, owner: string) {
  const { [owner]: own = 0, ...others } = byOwner;
  return { inAll: Math.max(0, inAll - 1), byOwner: own > 1 ? { ...others, [owner]: own - 1 } : others };
}
