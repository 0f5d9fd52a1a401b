/**
 * Sends events to the deployment's webhook again, oldest first. Each message is as it was, with the same id. So a receiver that
 * has it already knows the repeat.
 */
import * as z from 'zod';
import { addSeconds } from '../../shared/add-seconds.js';
import { collections } from '../../shared/names.js';
import type { Replayed } from '../../shared/organization/replay.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { Caller } from '../identity/auth.js';
import { lift, read } from '../store/lift.js';
import { afterConflict, persist } from '../store/persist.js';
import { Conflict, type Document, type Write } from '../store/store.js';
import { liftNotice, type NoticeRecord } from '../webhook/notices.js';
import { liftEvent } from './documents.js';
import { checkTeamRecord, type EventWrite, idsSince, readEventsFrom, type Whose } from './events.js';
import { noticeOf } from './notices.js';
import { checkAdmin, seeOrganization } from './rights.js';
import { busy, transact } from './transact.js';

/** One call asks for so many. The answer says where the next one goes on. */
const perCall = 1000;
const perCommit = 100;
const perQuery = 100;
/**
 * All replays of the deployment share one line, in which each event takes this long. That is half of what sweep sends in a
 * minute. The other half stays for what happens meanwhile.
 */
const msEach = 1200;
/** As many as a day sends. */
const mostInLine = 72_000;
/** Sweep looks so often for what is due. */
const sweepSeconds = 60;
const tries = 8;

/** `passes/replays`: the line. */
export const ReplaysRecord = z.object({
  schema: z.literal(1),
  /** When the next event that is asked for may be sent. */
  until: z.iso.datetime(),
});
const liftReplays = lift('time of replays', ReplaysRecord, 1);
const place = { collection: collections.passes, id: 'replays' } as const;

interface Asked {
  /** An ISO time. */
  readonly since?: string | undefined;
  readonly eventId?: string | undefined;
}

type Replaying = Pick<Context, 'store' | 'clock' | 'random' | 'config'>;

/** For admins of the organization. */
export async function replayOrganization(
  context: Replaying,
  caller: Caller,
  organizationId: string,
  asked: Asked,
): Promise<Replayed> {
  checkAdmin(await seeOrganization(context.store, caller, organizationId), 'organization');
  return replay(context, ['organizationId', '==', organizationId], asked);
}

/** For admins of the team, and of its organization. */
export async function replayTeam(context: Replaying, caller: Caller, teamId: number, asked: Asked): Promise<Replayed> {
  await checkTeamRecord(context.store, caller, teamId);
  return replay(context, ['teamId', '==', teamId], asked);
}

async function replay(context: Replaying, whose: Whose, asked: Asked): Promise<Replayed> {
  const { store, config } = context;
  if (config.webhookUrl === undefined) {
    throw new Problem('conflict', 'This deployment has no webhook, so nothing can be sent to it again.', {
      advice: 'Ask an operator to set PLINTH_WEBHOOK_URL.',
    });
  }
  const found = await eventsSince(context, whose, asked);
  const events = found.slice(0, perCall).map(({ id, data }) => ({ id, data: liftEvent(data) }));
  if (events.length === 0) return { events: 0 };
  const again = await inLine(context, events, await waitingOf(store, events));
  for (let i = 0; i < again.length; i += perCommit) await writeNotices(context, again.slice(i, i + perCommit));
  const last = Math.max(...again.map(({ at }) => at.getTime()));
  const next = found[perCall];
  return {
    events: events.length,
    until: addSeconds(new Date(last), sweepSeconds),
    ...(next !== undefined && { next: String(next.data['id']) }),
  };
}

/** An event, what waits for it already, and when its message is due. `hasPlace`: it takes a place in the line. */
interface Again {
  readonly event: StoredEvent;
  readonly waiting: Waiting;
  readonly at: Date;
  readonly hasPlace: boolean;
}

type StoredEvent = Pick<EventWrite, 'id' | 'data'>;
type Waiting = Document<NoticeRecord> | undefined;

/** Undefined: nothing is sent by then. */
const dueBy = (at: Date, waiting: Waiting): Date | undefined => {
  const due = waiting === undefined ? undefined : new Date(waiting.data.dueAt);
  return due !== undefined && due <= at ? due : undefined;
};

async function waitingOf(store: Replaying['store'], events: readonly StoredEvent[]): Promise<Waiting[]> {
  const ids = events.map(({ id }) => id);
  const pieces = Array.from({ length: Math.ceil(ids.length / perQuery) }, (_, i) =>
    persist(() => store.getMany(collections.notices, ids.slice(i * perQuery, (i + 1) * perQuery))),
  );
  return (await Promise.all(pieces)).flat().map((each) => read(each, liftNotice));
}

/** Takes places for the events, after all that were asked for before. What is sent before its place anyway takes none. */
const inLine = (
  context: Replaying,
  events: readonly StoredEvent[],
  found: readonly Waiting[],
): Promise<readonly Again[]> =>
  transact(context, async (transaction) => {
    const now = context.clock.now().getTime();
    const until = read(await transaction.get(place.collection, place.id), liftReplays)?.data.until;
    const begins = Math.max(now, until === undefined ? 0 : Date.parse(until));
    let free = begins;
    const again = events.map((event, i): Again => {
      const at = new Date(free);
      const waiting = found[i];
      const sooner = dueBy(at, waiting);
      if (sooner !== undefined) return { event, waiting, at: sooner, hasPlace: false };
      free += msEach;
      return { event, waiting, at, hasPlace: true };
    });
    if (free === begins) return again;
    const before = Math.ceil((begins - now) / msEach);
    const more = (free - begins) / msEach;
    if (before + more > mostInLine) throw fullLine(before, more, String(events[0]?.data.id));
    transaction.write({ kind: 'set', ...place, data: { schema: 1, until: new Date(free).toISOString() } });
    return again;
  });

function fullLine(before: number, more: number, next: string): Problem {
  const what = `At most ${mostInLine} events of the deployment may wait to be sent again`;
  return new Problem('too-many', `${what}: ${before} do, and these are ${more}.`, {
    advice: 'Ask again after Retry-After, or read the record itself, which has every event.',
    retryAfterSeconds: Math.ceil(((before + more - mostInLine) * msEach) / 1000),
    members: { limit: 'eventsSentAgain', value: mostInLine, next },
  });
}

/** Postpones nothing: another replay may have asked for the same, or sweep may be sending it. */
async function writeNotices({ store }: Replaying, again: readonly Again[]): Promise<void> {
  const due = again.filter(({ hasPlace }) => hasPlace);
  const events = due.map(({ event }) => event);
  let waiting = due.map((each) => each.waiting);
  for (let attempt = 1; ; attempt++) {
    const writes = due.flatMap(({ event, at }, i): Write[] => {
      const already = waiting[i];
      if (dueBy(at, already) !== undefined) return [];
      const notice = noticeOf(event, at.toISOString());
      return [already === undefined ? notice : { ...notice, kind: 'update', version: already.version }];
    });
    try {
      if (writes.length > 0) await persist(() => store.commit(writes));
      return;
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      if (attempt >= tries) throw busy(error);
      await afterConflict(attempt);
      waiting = await waitingOf(store, events);
    }
  }
}

/** Oldest first, and one more than a call asks for. */
async function eventsSince({ store }: Replaying, whose: Whose, { since, eventId }: Asked): Promise<Document[]> {
  const least = eventId ?? idsSince(since);
  const sinceMicros = since === undefined ? 0 : Date.parse(since) * 1000;
  const found: Document[] = [];
  let after: string | undefined;
  while (found.length <= perCall) {
    const wanted = Math.min(perQuery, perCall + 1 - found.length);
    const more = await persist(() => readEventsFrom(store, whose, least, after, wanted));
    found.push(...more.filter(({ createdAt }) => createdAt >= sinceMicros));
    after = more.at(-1) && String(more.at(-1)?.data['id']);
    if (more.length < wanted) break;
  }
  if (eventId !== undefined && found[0]?.data['id'] !== eventId) throw unknown(eventId);
  return found;
}

const unknown = (eventId: string): Problem => {
  const message = `is no event of this record: ${eventId}`;
  return new Problem('bad-input', `eventId ${message}`, {
    errors: [{ path: 'eventId', message }],
    advice: 'Take the id of an event, as the record shows it.',
  });
};
