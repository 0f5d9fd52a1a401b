/**
 * The record of who did what and when. Each change writes its event in its own transaction. Admins of the organization read
 * it.
 */
import { createHash } from 'node:crypto';
import { collections } from '../../../shared/names.js';
import type { Member, OrganizationEvent } from '../../../shared/organization/organization.js';
import type { Context } from '../../context.js';
import type { Caller } from '../../identity/auth.js';
import type { Document, Store, Transaction, Write } from '../../store/store.js';
import { type EventRecord, liftEvent } from '../documents.js';
import type { Page, Paged } from '../page.js';
import { checkAdmin, seeOrganization, seeTeam } from '../rights.js';
import { removedBy } from './team-notice.js';

export type Told = Pick<EventRecord, 'organizationId' | 'actor' | 'before' | 'after'> &
  Pick<OrganizationEvent, 'action'> &
  Partial<Pick<EventRecord, 'email' | 'teamId' | 'stayed' | 'boundTo' | 'version' | 'why'>>;

/** Microseconds as 14 hex digits, so that text sorts by time. Ids and cursors begin with it. */
const timeText = (micros: number): string => micros.toString(16).padStart(14, '0');
const microsOf = (text: string): number => Number.parseInt(text.slice(0, 14), 16);
const isoOf = (micros: number): string => new Date(micros / 1000).toISOString();

export type EventWrite = Extract<Write, { kind: 'create' }> & { readonly data: EventRecord };

export const eventDocumentId = (
  { organizationId, teamId }: Pick<Told, 'organizationId' | 'teamId'>,
  id: string,
): string => `${organizationId ?? `team-${teamId}`}~${id}`;

/** Two commits of the same microsecond tell different things, or the second one's create fails and it runs again. */
const digestOf = (told: Told): string => createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 8);

/**
 * `key` makes the event unique. `nth` orders the events of one transaction. The event's id has the database's time, not this
 * process's. So each change has a later time than the changes it depends on.
 */
export function eventWrite(
  transaction: Pick<Transaction, 'readAt'>,
  told: Told,
  { key, nth = 0 }: { readonly key?: string; readonly nth?: number } = {},
): EventWrite {
  const micros = transaction.readAt();
  const id = `${timeText(micros)}-${nth.toString(16).padStart(3, '0')}${digestOf(told)}`;
  const data: EventRecord = { schema: 1, id, at: isoOf(micros), ...told };
  return { kind: 'create', collection: collections.organizationEvents, id: eventDocumentId(told, key ?? id), data };
}

const byEmail = (a: Member, b: Member): number => (a.email < b.email ? -1 : 1);

/** A stored event and its position: the time of its commit, then its id. `told`: as it is shown, where that was looked at. */
interface Placed {
  readonly place: string;
  readonly document: Document;
  readonly told: OrganizationEvent | undefined;
}

const placed = (document: Document, told: OrganizationEvent | undefined): Placed => ({
  place: `${timeText(document.createdAt)} ${document.data['id']}`,
  document,
  told,
});

/** The members that stayed are stored once. 2,000 long addresses would not fit into a document twice. */
function toldOf({ createdAt, data }: Document): OrganizationEvent {
  const record = liftEvent(data);
  const { schema: _, organizationId: __, boundTo: ___, stayed, ...rest } = record;
  const { why } = removedBy(record);
  const event = { ...rest, ...(why !== undefined && { why }), at: isoOf(createdAt) } as OrganizationEvent;
  if (stayed === undefined) return event;
  const withStayed = (state: unknown): object => {
    const { members = [] } = state as { readonly members?: readonly Member[] };
    return { ...(state as object), members: [...stayed, ...members].sort(byEmail) };
  };
  return { ...event, before: withStayed(event.before), after: withStayed(event.after) };
}

const newestFirst = (a: Placed, b: Placed): number => (a.place < b.place ? 1 : -1);

/** How long after the time in the event's id the commit may come, for a transaction that waited for others. */
const lagMicros = 10_000_000;

/** What is asked of a record. Times are ISO texts: from `since` on, and before `until`. */
export interface EventFilter {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly member?: string | undefined;
  readonly teamId?: number | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

function fits({ actor, action, email, teamId, at }: OrganizationEvent, filter: EventFilter): boolean {
  const moment = Date.parse(at);
  return (
    (filter.actor === undefined || filter.actor === actor) &&
    (filter.action === undefined || filter.action === action) &&
    (filter.member === undefined || filter.member === email) &&
    (filter.teamId === undefined || filter.teamId === teamId) &&
    (filter.since === undefined || moment >= Date.parse(filter.since)) &&
    (filter.until === undefined || moment < Date.parse(filter.until))
  );
}

/** The record of an organization, for its admins. */
export async function listEvents(
  { store }: Pick<Context, 'store'>,
  caller: Caller,
  organizationId: string,
  page: Page,
  filter: EventFilter = {},
): Promise<Paged<OrganizationEvent>> {
  checkAdmin(await seeOrganization(store, caller, organizationId), 'organization');
  const { teamId } = filter;
  if (teamId === undefined) return readRecord(store, ['organizationId', '==', organizationId], page, filter);
  // The team's own record is the shorter one. It goes back to where the team was before.
  const isTheirs = ({ data }: Document): boolean => data['organizationId'] === organizationId;
  return readRecord(store, ['teamId', '==', teamId], page, filter, isTheirs);
}

/** The record of a team, wherever it was, for its admins and those of its organization. */
export async function listTeamEvents(
  { store }: Pick<Context, 'store'>,
  caller: Caller,
  teamId: number,
  page: Page,
  filter: EventFilter,
): Promise<Paged<OrganizationEvent>> {
  await checkTeamRecord(store, caller, teamId);
  return readRecord(store, ['teamId', '==', teamId], page, filter);
}

/** Throws unless the caller may read the record of the team. */
async function checkTeamRecord(store: Store, caller: Caller, teamId: number): Promise<void> {
  checkAdmin(await seeTeam(store, caller, teamId), 'team');
}

const mostAtOnce = 500;

type Whose = readonly ['organizationId' | 'teamId', '==', string | number];

/**
 * Newest first, by commit time. The database can order by id alone. So a page reads on until all unread events must be older
 * than it.
 */
async function readRecord(
  store: Store,
  whose: Whose,
  { limit, after }: Page,
  filter: EventFilter,
  isTheirs: (each: Document) => boolean = () => true,
): Promise<Paged<OrganizationEvent>> {
  const place = after === undefined ? undefined : String(after);
  // An id has the time of a read before the commit, so no event of this page has a later one.
  let from = place === undefined ? undefined : timeText(microsOf(place) + 1);
  const sinceMicros = filter.since === undefined ? 0 : Date.parse(filter.since) * 1000;
  const found: Placed[] = [];
  const isOpen = Object.values(filter).every((each) => each === undefined);
  const asked = (each: Document): Placed[] => {
    const told = isOpen ? undefined : toldOf(each);
    return told === undefined || fits(told, filter) ? [placed(each, told)] : [];
  };
  // A few more than asked for are usually enough. Otherwise each further piece is twice as large.
  let size = limit === undefined ? undefined : limit + 5;
  for (;;) {
    const more = await readEvents(store, whose, from, size);
    found.push(...more.filter(isTheirs).flatMap(asked));
    const last = more.at(-1)?.data['id'];
    from = last === undefined ? undefined : String(last);
    // All unread ones are older.
    const oldest = from === undefined ? 0 : microsOf(from) + lagMicros;
    const complete = size === undefined || more.length < size || oldest <= sinceMicros;
    const settled = complete ? 0 : oldest;
    const items = found
      .filter((each) => (place === undefined || each.place < place) && microsOf(each.place) >= settled)
      .sort(newestFirst);
    if (size === undefined || complete || items.length > (limit ?? 0)) return pageOfItems(items, limit);
    size = Math.min(size * 2, mostAtOnce);
  }
}

function pageOfItems(items: readonly Placed[], limit: number | undefined): Paged<OrganizationEvent> {
  const shown = items.slice(0, limit);
  const next = shown.length < items.length ? shown.at(-1)?.place : undefined;
  return {
    items: shown.map(({ document, told }) => told ?? toldOf(document)),
    ...(next === undefined ? {} : { next }),
  };
}

/** Newest first by id. `after`: an id. */
const readEvents = (
  store: Pick<Store, 'query'>,
  whose: Whose,
  after: string | undefined,
  limit: number | undefined,
): Promise<Document[]> =>
  store.query({
    collection: collections.organizationEvents,
    where: [whose],
    orderBy: ['id', 'desc'],
    ...(limit === undefined ? {} : { limit }),
    ...(after === undefined ? {} : { after }),
  });
