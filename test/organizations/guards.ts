/**
 * Stores that leave a guard out, as a careless change of the code would: to show that the storm notices. Nothing of this is
 * in the product.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Document, Store, Transaction, Write } from '../../functions/store/store.js';
import type { Random } from './random.js';

export type Wrap = (store: Store, random: Random) => Store;

/** Long enough for others to come in between. */
const pause = (random: Random): Promise<void> => sleep(random.below(30));

/** Transactions become plain reads, then plain writes. */
export const withoutTransactions: Wrap = (store, random) => ({
  ...store,
  async transaction(body) {
    const pending: Write[] = [];
    const result = await body({
      get: (collection, id) => store.get(collection, id),
      getMany: (collection, ids) => store.getMany(collection, ids),
      write: (...writes) => void pending.push(...writes),
    });
    await pause(random);
    await store.commit(pending);
    return result;
  },
});

/** Whoever reads this collection in a transaction does not hear of changes that come in between. */
export const blindTo =
  (hidden: string): Wrap =>
  (store, random) => ({
    ...store,
    transaction: (body) =>
      store.transaction(async (transaction) => {
        const result = await body({
          ...transaction,
          get: (collection, id) => (collection === hidden ? store : transaction).get(collection, id),
          getMany: (collection, ids) => (collection === hidden ? store : transaction).getMany(collection, ids),
        });
        await pause(random);
        return result;
      }),
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
export const blindToRemovals: Wrap = (store, random) => ({
  ...store,
  async query(query) {
    const found = await store.query(query);
    await pause(random);
    return found;
  },
  transaction: (body) =>
    store.transaction(async (transaction) => {
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
      const result = await body(watched);
      await pause(random);
      return result;
    }),
});

/** Events are written some other time, or never. */
export const withoutEvents: Wrap = (store) => ({
  ...store,
  transaction: (body) =>
    store.transaction((transaction) =>
      body({
        ...transaction,
        write: (...writes) =>
          transaction.write(
            ...writes.filter((write) => write.collection !== 'organizationEvents' || write.id.endsWith('0')),
          ),
      }),
    ),
});

/** Takes nothing out: whoever reads is slow, so that others come in between wherever they can. */
export const slowly: Wrap = (store, random) => ({
  ...store,
  async query(query) {
    const found = await store.query(query);
    await pause(random);
    return found;
  },
  transaction: (body) =>
    store.transaction(async (transaction) => {
      const result = await body(transaction);
      await pause(random);
      return result;
    }),
});
