/**
 * The store calls of an operation, noted while it makes them, and made again with nothing around them: what the operation would
 * cost if plinth cost nothing.
 */
import type { Data, Query, Store, Write } from '../functions/store/store.js';

type Read =
  | { readonly kind: 'get'; readonly collection: string; readonly id: string }
  | { readonly kind: 'getMany'; readonly collection: string; readonly ids: readonly string[] };
type Call =
  | Read
  | { readonly kind: 'query'; readonly query: Query }
  | { readonly kind: 'commit'; readonly writes: readonly Write[] }
  | { readonly kind: 'transaction'; readonly reads: readonly Read[]; readonly writes: readonly Write[] };

/** Calls that were under way at the same time stand together. */
export type Trace = readonly (readonly Call[])[];

export interface TracedStore {
  readonly store: Store;
  /** What was called since it was asked last. */
  take(): Trace;
}

export function traceStore(store: Store): TracedStore {
  let groups: Call[][] = [];
  let underWay = 0;
  async function noted<T>(call: Call, work: () => Promise<T>): Promise<T> {
    if (underWay === 0) groups.push([]);
    groups.at(-1)?.push(call);
    underWay += 1;
    try {
      return await work();
    } finally {
      underWay -= 1;
    }
  }
  return {
    take() {
      const taken = groups;
      groups = [];
      return taken;
    },
    store: {
      ...store,
      get: (collection, id) => noted({ kind: 'get', collection, id }, () => store.get(collection, id)),
      getMany: (collection, ids) =>
        ids.length === 0
          ? Promise.resolve([])
          : noted({ kind: 'getMany', collection, ids }, () => store.getMany(collection, ids)),
      query: (query) => noted({ kind: 'query', query }, () => store.query(query)),
      commit: (writes) => noted({ kind: 'commit', writes }, () => store.commit(writes)),
      transaction(body) {
        let reads: Read[] = [];
        let writes: Write[] = [];
        const run = () =>
          store.transaction((transaction) => {
            // It may begin again; what counts is the run that was let through.
            reads.length = 0;
            writes.length = 0;
            return body({
              get(collection, id) {
                reads.push({ kind: 'get', collection, id });
                return transaction.get(collection, id);
              },
              getMany(collection, ids) {
                if (ids.length > 0) reads.push({ kind: 'getMany', collection, ids });
                return transaction.getMany(collection, ids);
              },
              write(...more) {
                writes.push(...more);
                transaction.write(...more);
              },
              readAt: () => transaction.readAt(),
            });
          });
        reads = [];
        writes = [];
        return noted({ kind: 'transaction', reads, writes }, run);
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

async function again(store: Store, call: Call): Promise<void> {
  switch (call.kind) {
    case 'get':
      await store.get(call.collection, call.id);
      return;
    case 'getMany':
      await store.getMany(call.collection, call.ids);
      return;
    case 'query':
      await store.query(call.query);
      return;
    case 'commit':
      await store.commit(call.writes.map(aside));
      return;
    case 'transaction':
      await store.transaction(async (transaction) => {
        for (const read of call.reads) {
          if (read.kind === 'get') await transaction.get(read.collection, read.id);
          else await transaction.getMany(read.collection, read.ids);
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
