/** The store on Firestore. The one importer of @google-cloud/firestore, which is loaded on first use. */
import type {
  DocumentData,
  DocumentReference,
  DocumentSnapshot,
  Firestore,
  Timestamp,
  WriteBatch,
} from '@google-cloud/firestore';
import { Problem } from '../../shared/problems.js';
import type { Config } from '../config.js';
import { createGoogleAuth, createNoAuth } from '../host/credentials.js';
import {
  Conflict,
  type Data,
  type Document,
  type Query,
  type Store,
  type Transaction,
  type Version,
  type Write,
} from './store.js';

type Sdk = typeof import('@google-cloud/firestore');

/** Firestore's TTL policies need timestamps. Times are text everywhere else. */
const timestampField = 'expireAt';

const microsOf = (time: Timestamp): number => time.seconds * 1_000_000 + Math.floor(time.nanoseconds / 1000);

const versionOf = (time: Timestamp): Version => `${time.seconds}.${time.nanoseconds}`;

function timestampOf(sdk: Sdk, version: Version): Timestamp {
  const [seconds, nanoseconds] = version.split('.').map(Number);
  return new sdk.Timestamp(seconds ?? Number.NaN, nanoseconds ?? Number.NaN);
}

/** The data in Firestore's form. In a create or set, the client leaves out undefined fields. */
function toStored(sdk: Sdk, data: Data): DocumentData {
  const stored: DocumentData = { ...data };
  const expireAt = data[timestampField];
  if (typeof expireAt === 'string') stored[timestampField] = sdk.Timestamp.fromDate(new Date(expireAt));
  return stored;
}

function fromStored(sdk: Sdk, stored: DocumentData): Data {
  const expireAt: unknown = stored[timestampField];
  return expireAt instanceof sdk.Timestamp ? { ...stored, [timestampField]: expireAt.toDate().toISOString() } : stored;
}

function documentOf(sdk: Sdk, snapshot: DocumentSnapshot): Document | undefined {
  const data = snapshot.data();
  const { createTime, updateTime } = snapshot;
  if (data === undefined || createTime === undefined || updateTime === undefined) return undefined;
  return {
    collection: snapshot.ref.parent.id,
    id: snapshot.id,
    version: versionOf(updateTime),
    createdAt: microsOf(createTime),
    data: fromStored(sdk, data),
  };
}

/** gRPC codes for a failed precondition: the document is missing, exists already, has changed, or is contended. */
const conflictCodes: ReadonlySet<unknown> = new Set([5, 6, 9, 10]);
/** Firestore gave up a transaction in favour of another one, while it was still reading. The code is INVALID_ARGUMENT. */
const givenUp = (code: unknown, message: string): boolean =>
  code === 3 && /transaction (?:has expired|is invalid or closed)/i.test(message);
/** DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, INTERNAL, UNAVAILABLE. */
const unavailableCodes: ReadonlySet<unknown> = new Set([4, 8, 13, 14]);

function translated(error: unknown, writing: boolean): unknown {
  const { code, message } = error as { code?: unknown; message?: string };
  // A missing database or index has the same codes, but is no lost race.
  const misconfigured = /database .*does not exist|requires an index/i.test(message ?? '');
  if (writing && (conflictCodes.has(code) || givenUp(code, message ?? '')) && !misconfigured)
    return new Conflict(message, { cause: error });
  if (unavailableCodes.has(code)) {
    return new Problem('unavailable', 'The database cannot be reached now.', { cause: error, retryAfterSeconds: 2 });
  }
  return error;
}

const translating = async <T>(writing: boolean, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw translated(error, writing);
  }
};

type Batch = Pick<WriteBatch, 'create' | 'set' | 'delete'> & {
  update(reference: DocumentReference, field: unknown, value: unknown, ...more: unknown[]): unknown;
};

function addWrite(sdk: Sdk, batch: Batch, reference: DocumentReference, write: Write): void {
  const unchanged =
    'version' in write && write.version !== undefined
      ? { lastUpdateTime: timestampOf(sdk, write.version) }
      : { exists: true };
  switch (write.kind) {
    case 'create':
      batch.create(reference, toStored(sdk, write.data));
      return;
    case 'set':
      batch.set(reference, toStored(sdk, write.data));
      return;
    case 'delete':
      batch.delete(reference, unchanged);
      return;
    case 'update': {
      const fields = Object.entries(toStored(sdk, write.data)).flatMap(([field, value]) => [
        new sdk.FieldPath(field),
        value === undefined ? sdk.FieldValue.delete() : value,
      ]);
      // An update always needs an existing document. Without a version, the client adds that condition itself.
      const [field, value, ...more] = 'lastUpdateTime' in unchanged ? [...fields, unchanged] : fields;
      batch.update(reference, field, value, ...more);
    }
  }
}

/** The loaded client. */
interface Opened {
  readonly sdk: Sdk;
  readonly firestore: Firestore;
}

type Settings = Pick<Config, 'project' | 'serviceAccount' | 'firestore'>;

/** When a connection with calls under way is asked for a sign of life, and how soon it must give one. */
interface ConnectionChecks {
  readonly silentSeconds: number;
  readonly answerSeconds: number;
}

/**
 * All calls share a connection, and a call that times out does not end it. Once its other side is gone without a word, Linux
 * takes 15 minutes to notice.
 */
const usualChecks: ConnectionChecks = { silentSeconds: 30, answerSeconds: 10 };

/** gRPC would wait for two minutes before it connects again after an outage. */
const mostBackoffSeconds = 10;

export function createFirestoreStore(config: Settings, checks: ConnectionChecks = usualChecks): Store {
  let opening: Promise<Opened> | undefined;
  const open = (): Promise<Opened> => {
    opening ??= load(config, checks);
    return opening;
  };
  return {
    prepare() {
      open().catch(() => undefined);
    },

    async get(collection, id) {
      const { sdk, firestore } = await open();
      return translating(false, async () => documentOf(sdk, await firestore.collection(collection).doc(id).get()));
    },

    async getMany(collection, ids) {
      if (ids.length === 0) return [];
      const { sdk, firestore } = await open();
      const references = ids.map((id) => firestore.collection(collection).doc(id));
      return translating(false, async () =>
        (await firestore.getAll(...references)).map((each) => documentOf(sdk, each)),
      );
    },

    async query(asked) {
      const opened = await open();
      const query = queryOn(opened, asked);
      const { sdk } = opened;
      return translating(false, async () => (await query.get()).docs.flatMap((each) => documentOf(sdk, each) ?? []));
    },

    async commit(writes) {
      if (writes.length === 0) return [];
      const { sdk, firestore } = await open();
      const batch = firestore.batch();
      for (const write of writes) {
        addWrite(sdk, batch as unknown as Batch, firestore.collection(write.collection).doc(write.id), write);
      }
      const results = await translating(true, () => batch.commit());
      return writes.map((write, i) => {
        const time = results[i]?.writeTime;
        return write.kind === 'delete' || time === undefined ? '' : versionOf(time);
      });
    },

    transaction: async (body) => runTransaction(await open(), body),

    watch: (collection, id, onChange, onError) =>
      watchDocument(open, (firestore) => firestore.collection(collection).doc(id), onChange, onError),

    async close() {
      if (opening === undefined) return;
      const { firestore } = await opening;
      opening = undefined;
      await firestore.terminate();
    },
  };
}

function queryOn({ sdk, firestore }: Opened, { collection, where = [], orderBy, limit, after }: Query) {
  let query: FirebaseFirestore.Query = firestore.collection(collection);
  for (const [field, op, value] of where) query = query.where(new sdk.FieldPath(field), op, value);
  if (orderBy !== undefined) query = query.orderBy(new sdk.FieldPath(orderBy[0]), orderBy[1]);
  if (after !== undefined) query = query.startAfter(after);
  if (limit !== undefined) query = query.limit(limit);
  return query;
}

function runTransaction<T>({ sdk, firestore }: Opened, body: (transaction: Transaction) => Promise<T>): Promise<T> {
  const run = firestore.runTransaction(async (inner) => {
    const pending: Write[] = [];
    let readAt: number | undefined;
    const read = (snapshot: DocumentSnapshot): Document | undefined => {
      readAt = Math.max(microsOf(snapshot.readTime), readAt ?? 0);
      return documentOf(sdk, snapshot);
    };
    const result = await body({
      get: async (collection, id) => read(await inner.get(firestore.collection(collection).doc(id))),
      getMany: async (collection, ids) =>
        ids.length === 0
          ? []
          : (await inner.getAll(...ids.map((id) => firestore.collection(collection).doc(id)))).map(read),
      write: (...writes) => {
        pending.push(...writes);
      },
      readAt() {
        if (readAt === undefined) throw new Error('The transaction has read nothing');
        return readAt;
      },
    });
    for (const write of pending) {
      addWrite(sdk, inner as unknown as Batch, firestore.collection(write.collection).doc(write.id), write);
    }
    return result;
  });
  // Errors of reads come out of the body untranslated, because the client decides by them what to run again.
  return translating(true, () => run);
}

/** Returns a function that stops it. */
function watchDocument(
  open: () => Promise<Opened>,
  referenceIn: (firestore: Firestore) => FirebaseFirestore.DocumentReference,
  onChange: (document: Document | undefined) => void,
  onError: (error: unknown) => void,
): () => void {
  let stopped = false;
  let stop = (): void => {};
  open()
    .then(({ sdk, firestore }) => {
      if (stopped) return;
      stop = referenceIn(firestore).onSnapshot(
        (snapshot) => onChange(documentOf(sdk, snapshot)),
        (error) => onError(translated(error, false)),
      );
    })
    .catch(onError);
  return () => {
    stopped = true;
    stop();
  };
}

async function load(config: Settings, checks: ConnectionChecks): Promise<Opened> {
  const { database, emulatorHost } = config.firestore;
  const sdk = await import('@google-cloud/firestore');
  const firestore = new sdk.Firestore({
    projectId: config.project,
    databaseId: database,
    ignoreUndefinedProperties: true,
    'grpc.keepalive_time_ms': checks.silentSeconds * 1000,
    'grpc.keepalive_timeout_ms': checks.answerSeconds * 1000,
    'grpc.max_reconnect_backoff_ms': mostBackoffSeconds * 1000,
    ...(emulatorHost === undefined
      ? { auth: createGoogleAuth(config) }
      : { auth: createNoAuth(config), host: emulatorHost, ssl: false }),
  });
  return { sdk, firestore };
}
