/**
 * The store in memory: the embedded default of `npm run local`, the demo and most tests. It refuses what Firestore refuses
 * (ids, nested arrays, sizes), so that nothing works only here.
 */
import {
  Conflict,
  type Data,
  type Document,
  type Query,
  type Store,
  type Transaction,
  type Write,
} from '../../functions/store/store.js';
import { createDocuments, type Documents, type Stored } from './memory-documents.js';

const comparable = (a: unknown, b: string | number | boolean): a is string | number | boolean => typeof a === typeof b;

function fits(value: unknown, op: string, wanted: string | number | boolean): boolean {
  if (op === 'array-contains') return Array.isArray(value) && value.includes(wanted);
  if (!comparable(value, wanted)) return false;
  switch (op) {
    case '==':
      return value === wanted;
    case '<':
      return value < wanted;
    case '<=':
      return value <= wanted;
    case '>':
      return value > wanted;
    default:
      return value >= wanted;
  }
}

/** Firestore's order: null, booleans, numbers, text. */
const rank = (value: unknown): number => ['boolean', 'number', 'string'].indexOf(typeof value);
const compare = (a: unknown, b: unknown): number => {
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  return a === b ? 0 : (a as string) < (b as string) ? -1 : 1;
};

/** The ids of the documents that a query finds, in its order. */
function answersTo({ where = [], orderBy, limit, after }: Query, documents: ReadonlyMap<string, Stored>): string[] {
  const range = where.find(([, op]) => op !== '==' && op !== 'array-contains')?.[0];
  if (after !== undefined && orderBy === undefined) throw new Error('A query goes on after a value only in an order');
  const [field, direction] = orderBy ?? [range, 'asc'];
  const sign = direction === 'desc' ? -1 : 1;
  const found = [...documents]
    .filter(([, { data }]) => where.every(([name, op, value]) => fits(data[name], op, value)))
    .filter(([, { data }]) => field === undefined || data[field] !== undefined)
    .sort(([idA, a], [idB, b]) => {
      const byField = field === undefined ? 0 : compare(a.data[field], b.data[field]);
      return sign * (byField || (idA < idB ? -1 : 1));
    })
    .filter(([, { data }]) => after === undefined || sign * compare(data[field as string], after) > 0);
  return found.slice(0, limit).map(([id]) => id);
}

/** Thrown into a transaction that must start over. */
class Outrun extends Error {}

/** Repeats a transaction's work until nothing it read has changed meanwhile. */
async function transact<T>(
  { read, versionOf, now, commit }: Documents,
  body: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    const seen = new Map<string, [collection: string, id: string, version: string | undefined]>();
    const pending: Write[] = [];
    let readAt: number | undefined;
    const changed = (): boolean =>
      [...seen.values()].some(([collection, id, version]) => versionOf(collection, id) !== version);
    const getMany = async (collection: string, ids: readonly string[]): Promise<(Document | undefined)[]> => {
      // As in Firestore, all reads of a transaction see the same moment.
      if (changed()) throw new Outrun();
      readAt = now();
      return ids.map((id) => {
        const document = read(collection, id);
        const key = `${collection}/${id}`;
        if (!seen.has(key)) seen.set(key, [collection, id, document?.version]);
        return document;
      });
    };
    try {
      const result = await body({
        get: async (collection, id) => (await getMany(collection, [id]))[0],
        getMany,
        write: (...more) => {
          pending.push(...more);
        },
        readAt() {
          if (readAt === undefined) throw new Error('The transaction has read nothing');
          return readAt;
        },
      });
      if (!changed()) {
        commit(pending);
        return result;
      }
    } catch (error) {
      // Firestore locks what a transaction reads, so there nothing changes before its refusal either.
      if (!(error instanceof Outrun) && !changed()) throw error;
    }
    if (attempt >= 100) throw new Conflict('The transaction was outrun too often');
  }
}

type Watchers = Map<string, Set<() => void>>;

/** Calls `onChange` with the document now, and after each change of its version. */
function watch(
  watchers: Watchers,
  read: () => Document | undefined,
  key: string,
  onChange: (document: Document | undefined) => void,
): () => void {
  let stopped = false;
  let seen: string | undefined | null = null;
  const tell = (): void => {
    queueMicrotask(() => {
      const document = stopped ? undefined : read();
      if (stopped || document?.version === seen) return;
      seen = document?.version;
      onChange(document);
    });
  };
  const listeners = watchers.get(key) ?? new Set();
  watchers.set(key, listeners.add(tell));
  tell();
  return () => {
    stopped = true;
    listeners.delete(tell);
    if (listeners.size === 0 && watchers.get(key) === listeners) watchers.delete(key);
  };
}

export interface MemoryStore extends Store {
  /** All documents as plain data, or those of some collections, for people and tests. */
  dump(only?: readonly string[]): Record<string, Record<string, Data>>;
  /** The documents of a collection as they are stored, for whoever reads them often and changes nothing. */
  seen(collection: string): Record<string, Data>;
}

/** `time`: the database's own clock, in milliseconds since 1970. */
export function createMemoryStore(time: () => number = Date.now): MemoryStore {
  const watchers: Watchers = new Map();
  const documents = createDocuments((keys) => {
    for (const key of keys) for (const tell of watchers.get(key) ?? []) tell();
  }, time);
  const { all, read } = documents;

  return {
    async get(collection, id) {
      return read(collection, id);
    },

    async getMany(collection, ids) {
      return ids.map((id) => read(collection, id));
    },

    async query(query: Query) {
      const { collection } = query;
      return answersTo(query, all.get(collection) ?? new Map()).flatMap((id) => read(collection, id) ?? []);
    },

    async commit(batch) {
      return documents.commit(batch);
    },

    transaction: (body) => transact(documents, body),

    watch: (collection, id, onChange) => watch(watchers, () => read(collection, id), `${collection}/${id}`, onChange),

    prepare() {},

    async close() {
      watchers.clear();
    },

    seen: (collection) => Object.fromEntries([...(all.get(collection) ?? [])].map(([id, { data }]) => [id, data])),

    dump(only) {
      return Object.fromEntries(
        [...all]
          .filter(([collection]) => only?.includes(collection) ?? true)
          .map(([collection, stored]) => [
            collection,
            Object.fromEntries([...stored].map(([id, { text }]) => [id, JSON.parse(text) as Data])),
          ]),
      );
    },
  };
}
