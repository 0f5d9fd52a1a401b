/**
 * The narrow document store that all product code speaks. Firestore is its one implementation in the product;
 * `local/` has one in memory; one conformance suite runs on both.
 */

/** Plain JSON data: strings, numbers, booleans, null, arrays (not of arrays) and maps. Times are ISO strings. */
export type Data = { readonly [field: string]: unknown };

/** Opaque; equal strings mean that nothing was written in between. */
export type Version = string;

export interface Document<T = Data> {
  readonly collection: string;
  readonly id: string;
  readonly version: Version;
  /** When the commit was that made it, by the database's clock: microseconds since 1970. */
  readonly createdAt: number;
  readonly data: T;
}

/**
 * `create` fails if it exists; `update` merges top-level fields (a value of `undefined` removes the field);
 * `update` and `delete` fail if the document is missing or, when `version` is given, is at another one.
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

/** What a transaction may do: read documents, then write. No queries: they would lock ranges. */
export interface Transaction {
  get(collection: string, id: string): Promise<Document | undefined>;
  getMany(collection: string, ids: readonly string[]): Promise<(Document | undefined)[]>;
  write(...writes: Write[]): void;
  /**
   * When it read last, by the database's clock: microseconds since 1970. What it read was committed before that, and what it
   * writes is committed after that. Throws if nothing was read.
   */
  readAt(): number;
}

export interface Store {
  /** Loads what it works with, while a caller's token is looked at. A fault shows with the first read. */
  prepare(): void;
  get(collection: string, id: string): Promise<Document | undefined>;
  /** In the order of `ids`. */
  getMany(collection: string, ids: readonly string[]): Promise<(Document | undefined)[]>;
  query(query: Query): Promise<Document[]>;
  /** All or nothing. Throws `Conflict` if any precondition fails. Returns the new versions (`''` for a delete), in order. */
  commit(writes: readonly Write[]): Promise<Version[]>;
  /** Runs `body` again when documents it read have changed; what `body` throws comes out, with nothing written. */
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

/** A precondition of a commit did not hold: somebody else was first. Read again, then decide again. */
export class Conflict extends Error {
  override readonly name = 'Conflict';
}
