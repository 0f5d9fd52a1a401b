/** Cuts one page out of a list, in the order of the keys. The token is the key that comes next, with a checksum. */
import { createHash } from 'node:crypto';
import { type CloudCall, GoogleError, type Json, type JsonObject } from './api.js';
import { numberOf } from './json-fields.js';

export interface Page<T> {
  readonly items: T[];
  readonly nextPageToken?: string;
}

const sumLength = 6;
const sumOf = (key: string): Buffer => createHash('sha256').update(`page ${key}`).digest().subarray(0, sumLength);

const tokenOf = (key: string): string => Buffer.concat([sumOf(key), Buffer.from(key)]).toString('base64url');

/** The key in a token. Undefined if no list gave the token out. */
function keyIn(token: string): string | undefined {
  const bytes = Buffer.from(token, 'base64url');
  const key = bytes.subarray(sumLength).toString('utf8');
  return tokenOf(key) === token ? key : undefined;
}

/** Refuses a page token that no list gave out. */
export function checkPageToken(token: string | undefined): void {
  if (token === undefined || token === '' || keyIn(token) !== undefined) return;
  throw new GoogleError(
    400,
    'INVALID_ARGUMENT',
    `Invalid value for field 'pageToken': '${token}'. Invalid page token.`,
    {
      reason: 'invalid',
      location: 'pageToken',
    },
  );
}

export function pageOf<T>(
  entries: readonly (readonly [string, T])[],
  size: number | undefined,
  token: string | undefined,
): Page<T> {
  checkPageToken(token);
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const from = token === undefined || token === '' ? '' : (keyIn(token) ?? '');
  const rest = sorted.filter(([key]) => key >= from);
  const taken = size === undefined || size <= 0 ? rest : rest.slice(0, size);
  const next = rest[taken.length];
  return {
    items: taken.map(([, item]) => item),
    ...(next === undefined ? {} : { nextPageToken: tokenOf(next[0]) }),
  };
}

/** The page that a call asks for, in the form of most lists: the items under `field`, if there are any, and the next token. */
export function pageReply(
  { params }: Pick<CloudCall, 'params'>,
  field: string,
  entries: readonly (readonly [string, Json])[],
  size = numberOf(params['pageSize'] ?? params['maxResults']),
): JsonObject {
  const { items, nextPageToken } = pageOf(entries, size, params['pageToken']);
  return {
    ...(items.length === 0 ? {} : { [field]: items }),
    ...(nextPageToken === undefined ? {} : { nextPageToken }),
  };
}
