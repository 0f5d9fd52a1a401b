/**
 * Answers with a list. Without `limit` the list is whole. With it, the list comes in pages, and the `Link` header points to
 * the next one.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { pathTo, type Route } from '../../shared/api.js';
import { deploymentSecrets } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { findOwnKey, ownKey } from '../host/deployment-keys.js';
import type { Caller } from '../identity/auth.js';
import type { Page, Paged } from '../organizations/page.js';
import type { Answer } from './reply.js';

interface ListCall {
  readonly caller: Pick<Caller, 'email'>;
  readonly params?: Readonly<Record<string, string | number>> | undefined;
  /** The other query parameters. The link to the next page repeats them. */
  readonly kept?: Readonly<Record<string, string>>;
  readonly query: { readonly limit?: number | undefined; readonly cursor?: string | undefined };
}

const Place = z.tuple([z.union([z.string(), z.number()])]);

/** Characters of base64url, which carry 132 bits. */
const sealLength = 22;
const leastKeyBytes = 32;

/**
 * Seals a cursor to one list of one caller. Only the deployment can make one, because its content goes into queries unchecked.
 */
function sealOf(key: string, place: string, { caller, kept }: ListCall, path: string): string {
  const sealed = JSON.stringify([caller.email, path, place, ...(kept === undefined ? [] : [kept])]);
  return createHmac('sha256', key).update(sealed).digest('base64url').slice(0, sealLength);
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function cursorOf(key: string, next: string | number, call: ListCall, path: string): string {
  const place = Buffer.from(JSON.stringify([next])).toString('base64url');
  return `${place}.${sealOf(key, place, call, path)}`;
}

function placeOf(key: string | undefined, cursor: string, call: ListCall, path: string): string | number {
  const [place = '', seal = '', ...rest] = cursor.split('.');
  if (key !== undefined && rest.length === 0 && isSame(seal, sealOf(key, place, call, path))) {
    return Place.parse(JSON.parse(Buffer.from(place, 'base64url').toString()))[0];
  }
  const message = 'is no cursor of this list for this caller; begin again without it';
  throw new Problem('bad-input', `query.cursor ${message}.`, { errors: [{ path: 'query.cursor', message }] });
}

/**
 * Reads the key that seals cursors. Undefined: `find` found none, as none is made yet. Throws `unavailable`, because a 403 would
 * make callers look for a fault in their own rights.
 */
async function readKey<T extends string | undefined>(
  { cloud }: Pick<Context, 'cloud'>,
  find: (cloud: Context['cloud'], key: 'cursorKey') => Promise<T>,
): Promise<T> {
  const id = deploymentSecrets.cursorKey;
  const without = (why: string, cause?: unknown) =>
    new Problem('unavailable', `Lists have no pages now, as the key that seals their cursors ${why}.`, {
      advice: `Ask without limit and cursor, or ask the operator to look at the secret ${id} and who may read it.`,
      cause,
    });
  const key = await find(cloud, 'cursorKey').catch((error: unknown) => {
    throw without('cannot be read', error);
  });
  if (key !== undefined && Buffer.byteLength(key) < leastKeyBytes)
    throw without(`is shorter than ${leastKeyBytes} bytes`);
  return key;
}

export type AnswerInPages = (
  route: Pick<Route, 'path'>,
  call: ListCall,
  list: (page: Page) => Promise<Paged<unknown>>,
) => Promise<Answer>;

/** Reads the key at the first cursor and then keeps it. A failed read is not kept. */
export function createPages(context: Context): AnswerInPages {
  let key: Promise<string> | undefined;
  const keyAtHand = (): Promise<string> => {
    key ??= readKey(context, ownKey).catch((error: unknown) => {
      key = undefined;
      throw error;
    });
    return key;
  };

  /** No cursor is older than the key, and reading one makes no key. */
  const keyThatIs = async (): Promise<string | undefined> => {
    const found = await (key ?? readKey(context, findOwnKey));
    if (found !== undefined) key ??= Promise.resolve(found);
    return found;
  };

  return async (route, call, list) => {
    const path = pathTo(route, call.params);
    const { limit, cursor } = call.query;
    const after = cursor === undefined ? {} : { after: placeOf(await keyThatIs(), cursor, call, path) };
    const { items, next } = await list({ limit, ...after });
    if (next === undefined) return { status: 200, body: items };
    const following = cursorOf(await keyAtHand(), next, call, path);
    const asked = new URLSearchParams({ ...call.kept, limit: String(limit), cursor: following });
    const link = `<${path}?${asked}>; rel="next"`;
    return { status: 200, headers: { link }, body: items };
  };
}

/** A page, newest first, of a list that is read whole anyway. The next page starts after the time and id of the last item. */
export function pageIn<T extends { readonly id: string; readonly data: { readonly createdAt: string } }>(
  all: readonly T[],
  { limit, after }: Page,
): Paged<T> {
  const placeIn = ({ id, data }: T): string => `${data.createdAt} ${id}`;
  const sorted = all.toSorted((a, b) => (placeIn(a) < placeIn(b) ? 1 : -1));
  const rest = after === undefined ? sorted : sorted.filter((each) => placeIn(each) < String(after));
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return last !== undefined && rest.length > items.length ? { items, next: placeIn(last) } : { items };
}
