/** A store that counts as Firestore bills: by the document. */
import type { Store } from '../../functions/store/store.js';

export interface StoreCounts {
  /** Documents; a query that finds none counts as one. */
  reads: number;
  written: number;
  commits: number;
  /** Commits that lost a race: they are billed for nothing, and cost time. */
  refused: number;
}

export function countStore(store: Store): { readonly store: Store; readonly counts: StoreCounts } {
  const counts: StoreCounts = { reads: 0, written: 0, commits: 0, refused: 0 };
  return {
    counts,
    store: {
      ...store,
      get(collection, id) {
        counts.reads += 1;
        return store.get(collection, id);
      },
      getMany(collection, ids) {
        counts.reads += ids.length;
        return store.getMany(collection, ids);
      },
      async query(query) {
        const found = await store.query(query);
        counts.reads += Math.max(found.length, 1);
        return found;
      },
      async commit(writes) {
        try {
          const versions = await store.commit(writes);
          counts.commits += 1;
          counts.written += writes.length;
          return versions;
        } catch (error) {
          counts.refused += 1;
          throw error;
        }
      },
      transaction: (body) =>
        store.transaction((transaction) =>
          body({
            get(collection, id) {
              counts.reads += 1;
              return transaction.get(collection, id);
            },
            getMany(collection, ids) {
              counts.reads += ids.length;
              return transaction.getMany(collection, ids);
            },
            write(...writes) {
              counts.written += writes.length;
              transaction.write(...writes);
            },
            readAt: () => transaction.readAt(),
          }),
        ),
    },
  };
}
