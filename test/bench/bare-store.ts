/**
 * The store calls of an operation, noted while it makes them, and made again with nothing around them: what the operation would
 * cost if plinth cost nothing.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Data, Query, Store, Transaction, Write } from '../../functions/store/store.js';

type Read =
  | { readonly kind: 'get'; readonly collection: string; readonly id: string }
  | { readonly kind: 'getMany'; readonly collection: string; readonly ids: readonly string[] };
/** `within`: what the transaction read by itself, and what its body asked of the store beside it. */
type Call =
  | Read
  | { readonly kind: 'query'; readonly query: Query }
  | { readonly kind: 'commit'; readonly writes: readonly Write[] }
  | { readonly kind: 'transaction'; readonly within: Notes; readonly writes: readonly Write[] };

/** Calls that were under way at the same time stand together. */
export type Trace = readonly (readonly Call[])[];

export interface TracedStore {
  readonly store: Store;
  /** What was called since it was asked last. */
  take(): Trace;
}

/** Calls as they come. Those of a transaction read in it, if `inside` says so. */
interface Noted {
  readonly inside: boolean;
  readonly call: Call;
}
interface Notes {
  groups: Noted[][];
  underWay: number;
}
const newNotes = (): Notes => ({ groups: [], underWay: 0 });

async function noted<T>(notes: Notes, call: Call, work: () => Promise<T>, inside = false): Promise<T> {
  if (notes.underWay === 0) notes.groups.push([]);
  notes.groups.at(-1)?.push({ inside, call });
  notes.underWay += 1;
  try {
    return await work();
  } finally {
    notes.underWay -= 1;
  }
}

export function traceStore(store: Store): TracedStore {
  const top = newNotes();
  /** The transaction whose body is running. */
  const running = new AsyncLocalStorage<Notes>();
  const note = <T>(call: Call, work: () => Promise<T>) => noted(running.getStore() ?? top, call, work);
  return {
    take() {
      const taken = top.groups.map((group) => group.map(({ call }) => call));
      top.groups = [];
      return taken;
    },
    store: {
      ...store,
      get: (collection, id) => note({ kind: 'get', collection, id }, () => store.get(collection, id)),
      getMany: (collection, ids) =>
        ids.length === 0
          ? Promise.resolve([])
          : note({ kind: 'getMany', collection, ids }, () => store.getMany(collection, ids)),
      query: (query) => note({ kind: 'query', query }, () => store.query(query)),
      commit: (writes) => note({ kind: 'commit', writes }, () => store.commit(writes)),
      transaction(body) {
        const within = newNotes();
        const writes: Write[] = [];
        const reads = <T>(call: Read, work: () => Promise<T>) => noted(within, call, work, true);
        const run = () =>
          store.transaction((transaction) => {
            // It may begin again; what counts is the run that was let through.
            within.groups = [];
            writes.length = 0;
            const seen: Transaction = {
              get: (collection, id) => reads({ kind: 'get', collection, id }, () => transaction.get(collection, id)),
              getMany: (collection, ids) =>
                ids.length === 0
                  ? Promise.resolve([])
                  : reads({ kind: 'getMany', collection, ids }, () => transaction.getMany(collection, ids)),
              write(...more) {
                writes.push(...more);
                transaction.write(...more);
              },
              readAt: () => transaction.readAt(),
            };
            return running.run(within, () => body(seen));
          });
        return note({ kind: 'transaction', within, writes }, run);
      },
    },
  };
}

let made = 0;

/** As many documents of the same size, beside the ones that the operation wrote. */
const aside = (write: Write): Write => {
  made += 1;
  const data: Data = write.kind === 'delete' ? {} : write.data;
  return { kind: 'set', collection: `bare-${write.collection}`, id: `${write.id}-${made}`, data };
};

async function read(from: Pick<Store, 'get' | 'getMany'>, call: Read): Promise<void> {
  if (call.kind === 'get') await from.get(call.collection, call.id);
  else await from.getMany(call.collection, call.ids);
}

async function again(store: Store, call: Call): Promise<void> {
  switch (call.kind) {
    case 'get':
    case 'getMany':
      return read(store, call);
    case 'query':
      await store.query(call.query);
      return;
    case 'commit':
      await store.commit(call.writes.map(aside));
      return;
    case 'transaction':
      await store.transaction(async (transaction) => {
        for (const group of call.within.groups) {
          await Promise.all(
            group.map(({ inside, call: each }) =>
              inside && (each.kind === 'get' || each.kind === 'getMany') ? read(transaction, each) : again(store, each),
            ),
          );
        }
        transaction.write(...call.writes.map(aside));
      });
  }
}

/** The same calls in the same order, and at the same time where they were. */
export async function callAgain(store: Store, trace: Trace): Promise<void> {
  for (const group of trace) await Promise.all(group.map((call) => again(store, call)));
}

/** The same calls, so many at a time. */
export async function callAgainAtOnce(store: Store, trace: Trace, atOnce: number): Promise<void> {
  const calls = trace.flat();
  const worker = async (): Promise<void> => {
    for (let call = calls.shift(); call !== undefined; call = calls.shift()) await again(store, call);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
