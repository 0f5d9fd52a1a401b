/** Cuts one page out of a list, in the order of the keys. The token is the key that comes next. */
export interface Page<T> {
  readonly items: T[];
  readonly nextPageToken?: string;
}

export function pageOf<T>(
  entries: readonly (readonly [string, T])[],
  size: number | undefined,
  token: string | undefined,
): Page<T> {
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const from = token === undefined || token === '' ? '' : Buffer.from(token, 'base64url').toString('utf8');
  const rest = sorted.filter(([key]) => key >= from);
  const taken = size === undefined || size <= 0 ? rest : rest.slice(0, size);
  const next = rest[taken.length];
  return {
    items: taken.map(([, item]) => item),
    ...(next === undefined ? {} : { nextPageToken: Buffer.from(next[0]).toString('base64url') }),
  };
}
