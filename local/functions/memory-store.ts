/**
 * The store in memory: the embedded default of `npm run local`, the demo and most tests. It refuses what Firestore
 * refuses (ids, nested arrays, sizes), so that nothing works here alone.
 */
import { Conflict, type Data, type Document, type Query, type Store, type Write } from '../../functions/store/store.js';

interface Stored {
  readonly version: string;
  readonly createdAt: number;
  readonly data: Data;
  /** Frozen text of the data; parsed anew for each reader, so that nobody changes a document by accident. */
  readonly text: string;
}

const maxDocumentBytes = 1024 * 1024;
const maxCommitBytes = 10 * 1024 * 1024;

function checkId(id: string): void {
  if (
    id === '' ||
    id === '.' ||
    id === '..' ||
    id.includes('/') ||
    /^__.*__$/.test(id) ||
    Buffer.byteLength(id) > 1500
  ) {
    throw new Error(`Firestore takes no document id ${JSON.stringify(id)}`);
  }
}

function checkValue(value: unknown, path: string): void {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return;
    case 'number':
      if (!Number.isFinite(value)) throw new Error(`${path} is no finite number`);
      return;
    case 'object':
      if (value === null) return;
      if (Array.isArray(value)) {
        for (const [i, each] of value.entries()) {
          if (Array.isArray(each) || each === undefined)
            throw new Error(`${path}[${i}]: Firestore takes no such element`);
          checkValue(each, `${path}[${i}]`);
        }
        return;
      }
      if (Object.getPrototypeOf(value) !== Object.prototype) throw new Error(`${path} is no plain data`);
      for (const [field, each] of Object.entries(value)) {
        if (field === '' || /^__.*__$/.test(field)) throw new Error(`${path}: Firestore takes no field ${field}`);
        checkValue(each, `${path}.${field}`);
      }
      return;
    default:
      throw new Error(`${path} is no plain data`);
  }
}

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

/** Thrown into a transaction that has to begin again. */
class Outrun extends Error {}

export interface MemoryStore extends Store {
  /** Everything in it, as plain data, for people and tests. */
  dump(): Record<string, Record<string, Data>>;
}

export function createMemoryStore(): MemoryStore {
  const collections = new Map<string, Map<string, Stored>>();
  const watchers = new Map<string, Set<() => void>>();
  let writes = 0;
  let lastTime = 0;
  /** The database's own clock: microseconds, never twice the same. */
  const now = (): number => {
    lastTime = Math.max(Date.now() * 1000, lastTime + 1);
    return lastTime;
  };

  const documentsOf = (collection: string): Map<string, Stored> => {
    const found = collections.get(collection) ?? new Map<string, Stored>();
    collections.set(collection, found);
    return found;
  };

  const read = (collection: string, id: string): Document | undefined => {
    checkId(id);
    const stored = collections.get(collection)?.get(id);
    if (stored === undefined) return undefined;
    const { version, createdAt, text } = stored;
    return { collection, id, version, createdAt, data: JSON.parse(text) as Data };
  };

  /** What the write leaves behind; undefined: nothing. */
  function applied(write: Write, before: Stored | undefined): Data | undefined {
    if (write.kind === 'create' && before !== undefined) throw new Conflict(`${write.collection}/${write.id} exists`);
    if (write.kind === 'update' || write.kind === 'delete') {
      if (before === undefined) throw new Conflict(`${write.collection}/${write.id} is missing`);
      if (write.version !== undefined && write.version !== before.version) {
        throw new Conflict(`${write.collection}/${write.id} has changed`);
      }
    }
    if (write.kind === 'delete') return undefined;
    for (const [field, value] of Object.entries(write.data)) checkValue(value, field);
    return write.kind === 'update' ? { ...before?.data, ...write.data } : write.data;
  }

  /** All checks first, then all changes: no reader sees half a commit. */
  function commit(batch: readonly Write[]): string[] {
    const next = new Map<string, { write: Write; stored: Stored | undefined }>();
    const versions: string[] = [];
    let bytes = 0;
    const time = now();
    for (const write of batch) {
      checkId(write.id);
      const key = `${write.collection}/${write.id}`;
      if (next.has(key)) throw new Error(`${key} is written twice in one commit`);
      const before = collections.get(write.collection)?.get(write.id);
      const data = applied(write, before);
      if (data === undefined) {
        next.set(key, { write, stored: undefined });
        versions.push('');
        continue;
      }
      const text = JSON.stringify(data);
      bytes += text.length;
      if (text.length > maxDocumentBytes) throw new Error(`${key} is larger than 1 MiB`);
      // As Firestore has it: what changes nothing keeps its version.
      const version = before?.text === text ? before.version : String(writes + versions.length + 1);
      const createdAt = before?.createdAt ?? time;
      next.set(key, { write, stored: { version, createdAt, data: JSON.parse(text) as Data, text } });
      versions.push(version);
    }
    if (bytes > maxCommitBytes) throw new Error('The commit is larger than 10 MiB');
    writes += batch.length;
    for (const { write, stored } of next.values()) {
      if (stored === undefined) documentsOf(write.collection).delete(write.id);
      else documentsOf(write.collection).set(write.id, stored);
    }
    for (const key of next.keys()) for (const tell of watchers.get(key) ?? []) tell();
    return versions;
  }

  return {
    async get(collection, id) {
      return read(collection, id);
    },

    async getMany(collection, ids) {
      return ids.map((id) => read(collection, id));
    },

    async query({ collection, where = [], orderBy, limit, after }: Query) {
      const range = where.find(([, op]) => op !== '==' && op !== 'array-contains')?.[0];
      if (after !== undefined && orderBy === undefined)
        throw new Error('A query goes on after a value only in an order');
      const [field, direction] = orderBy ?? [range, 'asc'];
      const sign = direction === 'desc' ? -1 : 1;
      const found = [...documentsOf(collection)]
        .filter(([, { data }]) => where.every(([name, op, value]) => fits(data[name], op, value)))
        .filter(([, { data }]) => field === undefined || data[field] !== undefined)
        .sort(([idA, a], [idB, b]) => {
          const byField = field === undefined ? 0 : compare(a.data[field], b.data[field]);
          return sign * (byField || (idA < idB ? -1 : 1));
        })
        .filter(([, { data }]) => after === undefined || sign * compare(data[field as string], after) > 0);
      return found.slice(0, limit).flatMap(([id]) => read(collection, id) ?? []);
    },

    async commit(batch) {
      return commit(batch);
    },

    async transaction(body) {
      for (let attempt = 0; ; attempt++) {
        const seen = new Map<string, [collection: string, id: string, version: string | undefined]>();
        const pending: Write[] = [];
        let readAt: number | undefined;
        const changed = (): boolean =>
          [...seen.values()].some(
            ([collection, id, version]) => collections.get(collection)?.get(id)?.version !== version,
          );
        const getMany = async (collection: string, ids: readonly string[]): Promise<(Document | undefined)[]> => {
          // As Firestore has it: all that a transaction reads is of one moment.
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
          if (!(error instanceof Outrun)) throw error;
        }
        if (attempt >= 100) throw new Conflict('The transaction was outrun too often');
      }
    },

    watch(collection, id, onChange) {
      const key = `${collection}/${id}`;
      let stopped = false;
      let seen: string | undefined | null = null;
      const tell = (): void => {
        queueMicrotask(() => {
          const document = stopped ? undefined : read(collection, id);
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
    },

    prepare() {},

    async close() {
      watchers.clear();
    },

    dump() {
      return Object.fromEntries(
        [...collections].map(([collection, documents]) => [
          collection,
          Object.fromEntries([...documents].map(([id, { text }]) => [id, JSON.parse(text) as Data])),
        ]),
      );
    },
  };
}
