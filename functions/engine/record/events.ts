/** What happened to a bootstrap, from a cursor on, and what is happening now. */
import type { BootstrapEvent } from '../../../shared/bootstrap/event.js';
import { endStates } from '../../../shared/bootstrap/event.js';
import { collections } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import { readCursor, writeCursor } from './cursor.js';
import type { StoredBootstrap } from './documents.js';
import { eventId, liftEvent, liftLease, read } from './documents.js';
import { leasesOf } from './leases-of.js';
import { getBootstrap } from './update.js';

/** Number of the last event that is stored, also where the record is lost. */
export async function lastEventOf({ store }: Pick<Context, 'store'>, id: string): Promise<number> {
  const events = await store.query({ collection: collections.events, where: [['bootstrapId', '==', id]] });
  return Math.max(0, ...events.map(({ data }) => Number(data['n'])));
}

export interface EventPage {
  readonly events: readonly { readonly cursor: string; readonly event: BootstrapEvent }[];
  /** Nothing will follow: the bootstrap has ended and everything is read. */
  readonly ended: boolean;
  /** More can be read now. */
  readonly more: boolean;
  /** The bootstrap's current generation. */
  readonly generation: number;
}

const perPage = 200;

/**
 * Events are read by number. That needs no query and no index, and never returns an event that the record does not count yet.
 * `standing`: the record, if it was just read.
 */
export async function readEvents(
  { store }: Pick<Context, 'store'>,
  id: string,
  cursor?: string,
  standing?: StoredBootstrap,
): Promise<EventPage> {
  const from = readCursor(cursor).event;
  const bootstrap = standing ?? (await getBootstrap({ store }, id));
  if (bootstrap === undefined) throw new Problem('not-found', `There is no bootstrap ${id}.`);
  const last = Math.min(bootstrap.data.events, from + perPage);
  const ids = Array.from({ length: Math.max(last - from, 0) }, (_, i) => eventId(id, from + 1 + i));
  const found = await store.getMany(collections.events, ids);
  const events = found.flatMap((document) => {
    const stored = read(document, liftEvent)?.data;
    if (stored === undefined) return [];
    const { event, calls = [], n } = stored;
    const instance = 'instance' in event ? event.instance : '';
    const told: BootstrapEvent[] = calls.map(({ at, text }) => ({ schema: 1, type: 'call', at, instance, text }));
    // Calls carry the cursor of the event before. A follower that is cut off between them reads them again and misses none.
    return [
      ...told.map((call) => ({ cursor: writeCursor({ event: n - 1 }), event: call })),
      { cursor: writeCursor({ event: n }), event },
    ];
  });
  return {
    events,
    ended: endStates.includes(bootstrap.data.state) && last >= bootstrap.data.events,
    more: last < bootstrap.data.events,
    generation: bootstrap.data.generation,
  };
}

/** What is under way now, according to the leases. Progress is not numbered and may be missed. */
export async function readProgress(context: Pick<Context, 'store'>, id: string): Promise<BootstrapEvent[]> {
  const leases = await leasesOf(context, id);
  return leases.flatMap((document): BootstrapEvent[] => {
    const { state, instance, startedAt, failures, note, retry } = liftLease(document.data);
    if (state !== 'running' || startedAt === undefined) return [];
    const attempt = Object.values(failures).reduce((sum, each) => sum + each, 0);
    return [
      {
        schema: 1,
        type: 'progress',
        at: startedAt,
        instance,
        attempt,
        ...(note === undefined ? {} : { note }),
        ...(retry === undefined ? {} : { retry }),
      },
    ];
  });
}
