/** The documents of the store in memory: stores them, applies commits, and refuses what Firestore would refuse. */
import { Conflict, type Data, type Document, type Write } from '../../functions/store/store.js';

export interface Stored {
  readonly version: string;
  readonly createdAt: number;
  readonly data: Data;
  /** The data as text. Each reader parses it again, so that no reader changes a document by accident. */
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

/** The document after the write. Undefined if it is gone. */
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

interface Planned {
  readonly write: Write;
  /** Undefined if the document is deleted. */
  readonly stored: Stored | undefined;
}

export interface Documents {
  /** Documents by collection and id. */
  readonly all: ReadonlyMap<string, ReadonlyMap<string, Stored>>;
  /** The database's own clock in microseconds. It never returns the same time twice. */
  now(): number;
  read(collection: string, id: string): Document | undefined;
  versionOf(collection: string, id: string): string | undefined;
  /** Makes all checks, then all changes, so that no reader sees half a commit. Returns the new versions. */
  commit(batch: readonly Write[]): string[];
}

/** Calls `onCommit` with the documents that a commit wrote, as `collection/id`. `time`: milliseconds since 1970. */
export function createDocuments(onCommit: (keys: Iterable<string>) => void, time: () => number): Documents {
  const all = new Map<string, Map<string, Stored>>();
  let writes = 0;
  let lastTime = 0;
  const now = (): number => {
    lastTime = Math.max(Math.floor(time() * 1000), lastTime + 1);
    return lastTime;
  };
  const storedAt = (collection: string, id: string): Stored | undefined => all.get(collection)?.get(id);

  function plan(batch: readonly Write[]): Map<string, Planned> {
    const next = new Map<string, Planned>();
    let bytes = 0;
    const at = now();
    for (const write of batch) {
      checkId(write.id);
      const key = `${write.collection}/${write.id}`;
      if (next.has(key)) throw new Error(`${key} is written twice in one commit`);
      const before = storedAt(write.collection, write.id);
      const data = applied(write, before);
      if (data === undefined) {
        next.set(key, { write, stored: undefined });
        continue;
      }
      const text = JSON.stringify(data);
      bytes += text.length;
      if (text.length > maxDocumentBytes) throw new Error(`${key} is larger than 1 MiB`);
      // As in Firestore, a write that changes nothing keeps the version.
      const version = before?.text === text ? before.version : String(writes + next.size + 1);
      const createdAt = before?.createdAt ?? at;
      next.set(key, { write, stored: { version, createdAt, data: JSON.parse(text) as Data, text } });
    }
    if (bytes > maxCommitBytes) throw new Error('The commit is larger than 10 MiB');
    return next;
  }

  return {
    all,
    now,
    read(collection, id) {
      checkId(id);
      const stored = storedAt(collection, id);
      if (stored === undefined) return undefined;
      const { version, createdAt, text } = stored;
      return { collection, id, version, createdAt, data: JSON.parse(text) as Data };
    },
    versionOf: (collection, id) => storedAt(collection, id)?.version,
    commit(batch) {
      const next = plan(batch);
      writes += batch.length;
      for (const { write, stored } of next.values()) {
        const documents = all.get(write.collection) ?? new Map<string, Stored>();
        all.set(write.collection, documents);
        if (stored === undefined) documents.delete(write.id);
        else documents.set(write.id, stored);
      }
      onCommit(next.keys());
      return [...next.values()].map(({ stored }) => stored?.version ?? '');
    },
  };
}
