/** Answers with a list: whole, or with `limit` in pages, the next one in the `Link` header. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { pathTo, type Route } from '../../shared/api.js';
import { Problem } from '../../shared/problems.js';
import type { Caller } from '../identity/auth.js';
import type { Page, Paged } from '../organizations/page.js';
import type { Answer } from './reply.js';

interface ListCall {
  readonly caller: Caller;
  readonly params?: Readonly<Record<string, string | number>> | undefined;
  /** What the query says besides; the next page is asked for with the same. */
  readonly kept?: Readonly<Record<string, string>>;
  readonly query: { readonly limit?: number | undefined; readonly cursor?: string | undefined };
}

/** Half a surrogate pair is nothing that Firestore could look for. */
const Place = z.tuple([z.union([z.string().refine((text) => !/\p{Cs}/u.test(text)), z.number()])]);

/** A cursor says only where to go on in a list that its bearer may see anyhow: the seal keeps it from a list it is not of. */
function sealOf(place: string, { caller, kept }: ListCall, path: string): string {
  const sealed = JSON.stringify([caller.email, path, place, ...(kept === undefined ? [] : [kept])]);
  return createHash('sha256').update(sealed).digest('base64url').slice(0, 22);
}

function cursorOf(next: string | number, call: ListCall, path: string): string {
  const place = Buffer.from(JSON.stringify([next])).toString('base64url');
  return `${place}.${sealOf(place, call, path)}`;
}

function placeOf(cursor: string, call: ListCall, path: string): string | number {
  const [place = '', seal] = cursor.split('.');
  if (cursor === `${place}.${seal}` && seal === sealOf(place, call, path)) {
    try {
      return Place.parse(JSON.parse(Buffer.from(place, 'base64url').toString()))[0];
    } catch {
      // Falls through: somebody made it up.
    }
  }
  const message = 'is no cursor of this list for this caller; begin again without it';
  throw new Problem('bad-input', `query.cursor ${message}.`, { errors: [{ path: 'query.cursor', message }] });
}

export async function answerInPages(
  route: Pick<Route, 'path'>,
  call: ListCall,
  list: (page: Page) => Promise<Paged<unknown>>,
): Promise<Answer> {
  const path = pathTo(route, call.params);
  const { limit, cursor } = call.query;
  const { items, next } = await list({
    limit,
    ...(cursor === undefined ? {} : { after: placeOf(cursor, call, path) }),
  });
  if (next === undefined) return { status: 200, body: items };
  const asked = new URLSearchParams({ ...call.kept, limit: String(limit), cursor: cursorOf(next, call, path) });
  const link = `<${path}?${asked}>; rel="next"`;
  return { status: 200, headers: { link }, body: items };
}

/** A page of a list that is read whole anyhow, newest first; it goes on after the last one's time and id. */
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
