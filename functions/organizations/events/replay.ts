/**
 * Sends events to the deployment's webhook again, oldest first. Each message is as it was, with the same id. So a receiver that
 * has it already knows the repeat.
 */
import * as z from 'zod';
import { addSeconds } from '../../../shared/add-seconds.js';
import { collections } from '../../../shared/names.js';
import type { Replayed } from '../../../shared/organization/replay.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Caller } from '../../identity/auth.js';
import { lift, read } from '../../store/lift.js';
import type { Document, Write } from '../../store/store.js';
import { liftNotice } from '../../webhook/notices.js';
import { liftEvent } from '../documents.js';
import { checkAdmin, seeOrganization } from '../rights.js';
import { transactInTurn } from '../transact.js';
import { checkTeamRecord, type EventWrite, idsSince, readEventsFrom, type Whose } from './events.js';
import { noticeOf } from './notices.js';

/** One call asks for so many. The answer says where the next one goes on. */
const perCall = 1000;
/** One commit gives so many their places. */
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
  const { config } = context;
  if (config.webhookUrl === undefined) {
    throw new Problem('conflict', 'This deployment has no webhook, so nothing can be sent to it again.', {
      advice: 'Ask an operator to set PLINTH_WEBHOOK_URL.',
    });
  }
  const found = await eventsSince(context, whose, asked);
  const events = found.slice(0, perCall).map(({ id, data }) => ({ id, data: liftEvent(data) }));
  const dues: number[] = [];
  while (dues.length < events.length) {
    try {
      dues.push(...(await takePlaces(context, events.slice(dues.length, dues.length + perCommit))));
    } catch (error) {
      // What has its place goes out. The next call, which begins with the rest, is told that the line is full.
      if (!(error instanceof FullLine) || dues.length === 0) throw error;
      break;
    }
  }
  const next = found[dues.length];
  return {
    events: dues.length,
    ...(dues.length > 0 && { until: addSeconds(new Date(Math.max(...dues)), sweepSeconds) }),
    ...(next !== undefined && { next: String(next.data['id']) }),
  };
}

type StoredEvent = Pick<EventWrite, 'id' | 'data'>;

/**
 * Takes places for the events, after all that were asked for before, and writes their messages in the same commit. Postpones
 * nothing: what is sent before its place anyway takes none. Returns when each is due.
 */
const takePlaces = (context: Replaying, events: readonly StoredEvent[]): Promise<readonly number[]> =>
  transactInTurn(context, 'replays', async (transaction) => {
    const now = context.clock.now().getTime();
    const line = read(await transaction.get(place.collection, place.id), liftReplays);
    const ids = events.map(({ id }) => id);
    const waiting = (await transaction.getMany(collections.notices, ids)).map((each) => read(each, liftNotice));
    const begins = Math.max(now, line === undefined ? 0 : Date.parse(line.data.until));
    const writes: Write[] = [];
    const dues = events.map((event, i) => {
      const at = begins + writes.length * msEach;
      const already = waiting[i];
      const due = already === undefined ? undefined : Date.parse(already.data.dueAt);
      if (due !== undefined && due <= at) return due;
      writes.push({ ...noticeOf(event, new Date(at).toISOString()), kind: 'set' });
      return at;
    });
    const more = writes.length;
    if (more === 0) return dues;
    const before = Math.ceil((begins - now) / msEach);
    if (before + more > mostInLine) throw new FullLine(before, more, String(events[0]?.data.id));
    const until = new Date(begins + more * msEach).toISOString();
    transaction.write(...writes, { kind: 'set', ...place, data: { schema: 1, until } });
    return dues;
  });

class FullLine extends Problem {
  constructor(before: number, more: number, next: string) {
    super(
      'too-many',
      `At most ${mostInLine} events of the deployment may wait to be sent again: ${before} do, and these are ${more}.`,
      {
        advice: 'Ask again after Retry-After, or read the record itself, which has every event.',
        retryAfterSeconds: Math.ceil(((before + more - mostInLine) * msEach) / 1000),
        members: { limit: 'eventsSentAgain', value: mostInLine, next },
      },
    );
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
    const more = await readEventsFrom(store, whose, least, after, wanted);
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
