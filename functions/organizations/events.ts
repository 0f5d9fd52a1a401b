/** The record of who did what when. Written by every change, in its own transaction; read by admins of the organization. */
import { randomBytes } from 'node:crypto';
import { collections } from '../../shared/names.js';
import type { Member, OrganizationEvent } from '../../shared/organization/organization.js';
import type { Context } from '../context.js';
import type { Caller } from '../http/auth.js';
import type { Write } from '../store/store.js';
import { type EventRecord, liftEvent } from './documents.js';
import { type Page, type Paged, pageOf } from './page.js';
import { checkAdmin, standingIn } from './standing.js';

type Told = Pick<EventRecord, 'organizationId' | 'actor' | 'action' | 'before' | 'after'> &
  Partial<Pick<EventRecord, 'email' | 'teamId' | 'stayed'>>;

let lastTick = 0;

/** Sorts by time: microseconds, never twice the same in one process, then chance. */
function makeEventId(now: Date): string {
  lastTick = Math.max(now.getTime() * 1000, lastTick + 1);
  return `${lastTick.toString(16).padStart(14, '0')}-${randomBytes(4).toString('hex')}`;
}

export function eventWrite({ clock }: Pick<Context, 'clock'>, told: Told): Write {
  const now = clock.now();
  const id = makeEventId(now);
  const data: EventRecord = { schema: 1, id, at: now.toISOString(), ...told };
  const of = told.organizationId ?? `team-${told.teamId}`;
  return { kind: 'create', collection: collections.organizationEvents, id: `${of}~${id}`, data };
}

const byEmail = (a: Member, b: Member): number => (a.email < b.email ? -1 : 1);

/** The members that stayed are stored once: 2,000 long addresses twice would not fit into a document. */
function viewOf({ schema: _, organizationId: __, stayed, ...event }: EventRecord): OrganizationEvent {
  if (stayed === undefined) return event;
  const before = event.before as { readonly members: readonly Member[] };
  return {
    ...event,
    before: { ...before, members: [...stayed, ...before.members].sort(byEmail) },
    after: { ...(event.after as object), members: stayed },
  };
}

/** Newest first. */
export async function listEvents(
  { store }: Pick<Context, 'store'>,
  caller: Caller,
  organizationId: string,
  page: Page,
): Promise<Paged<OrganizationEvent>> {
  checkAdmin(await standingIn(store, caller, organizationId), 'organization');
  const { items, next } = await pageOf(
    store,
    {
      collection: collections.organizationEvents,
      where: [['organizationId', '==', organizationId]],
      orderBy: ['id', 'desc'],
    },
    page,
    liftEvent,
  );
  return { items: items.map(viewOf), ...(next === undefined ? {} : { next }) };
}
