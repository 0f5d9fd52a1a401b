/**
 * The narrow document store that all product code uses. The product implements it on Firestore, and `local/` has one in
 * memory. One conformance suite runs on both.
 */

/** Plain JSON data: strings, numbers, booleans, null, arrays (not of arrays) and maps. Times are ISO strings. */
export type Data = { readonly [field: string]: unknown };

/** Opaque. Equal versions mean that nothing was written in between. */
export type Version = string;

export interface Document<T = Data> {
  readonly collection: string;
  readonly id: string;
  readonly version: Version;
  /** When the document was created, by the database's clock, in microseconds since 1970. */
  readonly createdAt: number;
  readonly data: T;
}

/**
 * `create` fails if the document exists, and `set` writes it either way. `update` merges top-level fields. A value of `undefined`
 * removes the field. `update` and `delete` fail if the document is missing, or has another version than the given one.
 */
export type Write =
  | { readonly kind: 'create'; readonly collection: string; readonly id: string; readonly data: Data }
  | { readonly kind: 'set'; readonly collection: string; readonly id: string; readonly data: Data }
  | {
      readonly kind: 'update';
      readonly collection: string;
      readonly id: string;
      readonly version?: Version;
      readonly data: Data;
    }
  | { readonly kind: 'delete'; readonly collection: string; readonly id: string; readonly version?: Version };

export interface Query {
  readonly collection: string;
  readonly where?: readonly (readonly [
    field: string,
    op: '==' | '<' | '<=' | '>' | '>=' | 'array-contains',
    value: string | number | boolean,
  ])[];
  readonly orderBy?: readonly [field: string, direction: 'asc' | 'desc'];
  readonly limit?: number;
  /** Start after this value of the ordered field. */
  readonly after?: string | number;
}

/** A transaction reads documents, then writes. It has no queries, because they would lock ranges. */
export interface Transaction {
  get(collection: string, id: string): Promise<Document | undefined>;
  getMany(collection: string, ids: readonly string[]): Promise<(Document | undefined)[]>;
  write(...writes: Write[]): void;
  /**
   * Time of the last read, by the database's clock, in microseconds since 1970. What was read was committed before it, and the
   * writes are committed after it. Throws if nothing was read.
   */
  readAt(): number;
}

interface CommitOptions {
  /**
   * Never retried. A lost answer leaves the writes in place, so a second try may meet its own document. For callers who could
   * not tell it from another writer's.
   */
  readonly once?: boolean;
  /** Called before each retry. */
  readonly onRetry?: () => void;
}

/** The context hands out one that retries reads and commits while the database cannot be reached (retry.ts). */
export interface Store {
  /** Begins to load the client while a caller's token is verified. An error shows with the first read. */
  prepare(): void;
  get(collection: string, id: string): Promise<Document | undefined>;
  /** In the order of `ids`. */
  getMany(collection: string, ids: readonly string[]): Promise<(Document | undefined)[]>;
  query(query: Query): Promise<Document[]>;
  /** All or nothing. Throws `Conflict` if any precondition fails. Returns the new versions (`''` for a delete), in order. */
  commit(writes: readonly Write[], options?: CommitOptions): Promise<Version[]>;
  /**
   * Runs `body` again when documents it read have changed. If `body` throws while they are the same, the error comes out and
   * nothing is written.
   */
  transaction<T>(body: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Calls back with the document now and whenever it changes, until the returned function is called. */
  watch(
    collection: string,
    id: string,
    onChange: (document: Document | undefined) => void,
    onError: (error: unknown) => void,
  ): () => void;
  close(): Promise<void>;
}

/** A precondition of a commit failed: somebody else was first. Read again, then decide again. */
export class Conflict extends Error {
  override readonly name = 'Conflict';
}
