/** Reads a list from a query, whole or one page at a time. */
import type { Data, Query, Store } from '../store/store.js';

type Place = string | number;

/** Without `limit`, the whole list. `after` is where the previous page ended. */
export interface Page {
  readonly limit?: number | undefined;
  readonly after?: Place | undefined;
}

export interface Paged<T> {
  readonly items: readonly T[];
  /** Where the next page begins. Absent at the end. */
  readonly next?: Place;
}

/** The ordered field must be unique among the documents of the query. */
export async function pageOf<T extends object>(
  store: Pick<Store, 'query'>,
  query: Query & { readonly orderBy: readonly [field: string & keyof T, direction: 'asc' | 'desc'] },
  { limit, after }: Page,
  lift: (data: Data) => T,
): Promise<Paged<T>> {
  const found = await store.query({
    ...query,
    // One more than asked for shows whether there is a next page.
    ...(limit === undefined ? {} : { limit: limit + 1 }),
    ...(after === undefined ? {} : { after }),
  });
  const items = found.slice(0, limit).map(({ data }) => lift(data));
  const last = items.at(-1);
  return last !== undefined && found.length > items.length
    ? { items, next: last[query.orderBy[0]] as Place }
    : { items };
}
