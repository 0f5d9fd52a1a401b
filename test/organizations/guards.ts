/**
 * Stores that leave a guard out, as a careless change of the code would: to show that the rules rest on it. Nothing of this is
 * in the product.
 */
import type { Document, Store, Transaction, Write } from '../../functions/store/store.js';

type Guarded = (store: Store) => Store;

/** Transactions become plain reads, then plain writes. */
export const withoutTransactions: Guarded = (store) => ({
  ...store,
  async transaction(body) {
    const pending: Write[] = [];
    const result = await body({
      get: (collection, id) => store.get(collection, id),
      getMany: (collection, ids) => store.getMany(collection, ids),
      write: (...writes) => void pending.push(...writes),
      readAt: () => Date.now() * 1000,
    });
    await store.commit(pending);
    return result;
  },
});

/** Whoever reads this collection in a transaction does not hear of changes that come in between. */
export const blindTo =
  (hidden: string): Guarded =>
  (store) => ({
    ...store,
    transaction: (body) =>
      store.transaction((transaction) =>
        body({
          ...transaction,
          get: (collection, id) => (collection === hidden ? store : transaction).get(collection, id),
          getMany: (collection, ids) => (collection === hidden ? store : transaction).getMany(collection, ids),
          readAt: () => Date.now() * 1000,
        }),
      ),
  });

const unmarked = (document: Document | undefined): Document | undefined => {
  if (document === undefined || document.data['leaving'] === undefined) return document;
  const { leaving: _, ...data } = document.data;
  return { ...document, data };
};

/**
 * Whoever changes a team does not see that a member is being removed from the organization. A transaction that has looked
 * at a team is one that changes it; the removal itself looks at the member alone.
 */
export const blindToRemovals: Guarded = (store) => ({
  ...store,
  transaction: (body) =>
    store.transaction((transaction) => {
      let changesTeam = false;
      const seen = (collection: string): void => {
        changesTeam ||= collection === 'teams';
      };
      const shown = (found: Document | undefined): Document | undefined => (changesTeam ? unmarked(found) : found);
      const watched: Transaction = {
        ...transaction,
        async get(collection, id) {
          seen(collection);
          return shown(await transaction.get(collection, id));
        },
        async getMany(collection, ids) {
          seen(collection);
          return (await transaction.getMany(collection, ids)).map(shown);
        },
      };
      return body(watched);
    }),
});

/** Events are written some other time, or never. */
export const withoutEvents: Guarded = (store) => ({
  ...store,
  transaction: (body) =>
    store.transaction((transaction) =>
      body({
        ...transaction,
        write: (...writes) =>
          transaction.write(...writes.filter(({ collection }) => collection !== 'organizationEvents')),
      }),
    ),
});
