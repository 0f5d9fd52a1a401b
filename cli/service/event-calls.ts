/** How the record of an organization or a team is read, page by page. */
import * as z from 'zod';
import type { Route } from '../../shared/api.js';
import { OrganizationEvent } from '../../shared/organization/organization.js';
import type { Calls } from './organization-calls.js';

/** Accepts actions that only a newer service records. */
const ShownEvent = OrganizationEvent.extend({ action: z.string() });
export type ShownEvent = z.infer<typeof ShownEvent>;

/** `more`: older events exist. */
export interface Events {
  readonly events: readonly ShownEvent[];
  readonly more: boolean;
}

/** They hold together. Times are ISO texts: from `since` on, and before `until`. */
export type EventFilter = Readonly<
  Partial<Record<'actor' | 'action' | 'member' | 'teamId' | 'since' | 'until', string>>
>;

/** The API's own page limit. */
const mostOfPage = 200;

/** Newest first, at most `most` of them. */
export async function eventsOf(
  { askPatiently }: Pick<Calls, 'askPatiently'>,
  route: Route,
  params: Readonly<Record<string, string>>,
  most: number,
  filter: EventFilter,
): Promise<Events> {
  const events: ShownEvent[] = [];
  let cursor: string | undefined;
  for (;;) {
    const limit = String(Math.min(mostOfPage, most - events.length));
    const { data, headers } = await askPatiently(z.array(ShownEvent), route, {
      params,
      query: { ...filter, limit, ...(cursor !== undefined && { cursor }) },
    });
    events.push(...data);
    cursor = nextCursor(headers.get('link'));
    if (cursor === undefined || events.length >= most) return { events, more: cursor !== undefined };
  }
}

/** Reads `<…?cursor=…>; rel="next"`. Only the cursor is needed, because the address is known. */
function nextCursor(link: string | null): string | undefined {
  const target = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? '')?.[1];
  if (target === undefined || !URL.canParse(target, 'http://localhost')) return undefined;
  return new URL(target, 'http://localhost').searchParams.get('cursor') ?? undefined;
}
