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
import { persist } from '../store/persist.js';
import type { Document, Write } from '../store/store.js';
import { liftEvent } from './documents.js';
import { checkTeamRecord, idsSince, readEventsFrom, type Whose } from './events.js';
import { noticeOf } from './notices.js';
import { checkAdmin, seeOrganization } from './rights.js';
import { transact } from './transact.js';

/** One call asks for so many. The answer says where the next one goes on. */
const perCall = 1000;
const perCommit = 100;
const perQuery = 100;
/** Half of what sweep sends in a minute. The other half stays for what happens meanwhile. All replays share it. */
const perMinute = 50;
/** A replay that would begin later is refused. */
const longestWaitSeconds = 86_400;

/** `passes/replays`. */
export const ReplaysRecord = z.object({
  schema: z.literal(1),
  /** When the last of what was asked for has been sent. */
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
  const now = found.slice(0, perCall);
  if (now.length === 0) return { events: 0 };
  const minutes = Math.ceil(now.length / perMinute);
  const begins = await inLine(context, minutes);
  // What waits already is sent at that time instead.
  const notices = now.map(({ id, data }, i): Write => {
    const dueAt = addSeconds(begins, 60 * Math.floor(i / perMinute));
    return { ...noticeOf({ id, data: liftEvent(data) }, dueAt), kind: 'set' };
  });
  for (let i = 0; i < notices.length; i += perCommit) {
    await persist(() => store.commit(notices.slice(i, i + perCommit)));
  }
  const next = found[perCall];
  return {
    events: notices.length,
    until: addSeconds(begins, 60 * minutes),
    ...(next !== undefined && { next: String(next.data['id']) }),
  };
}

/** When a replay of so many minutes begins: after all that were asked for before. */
const inLine = (context: Replaying, minutes: number): Promise<Date> =>
  transact(context, async (transaction) => {
    const now = context.clock.now();
    const before = read(await transaction.get(place.collection, place.id), liftReplays)?.data.until;
    const begins = new Date(Math.max(now.getTime(), before === undefined ? 0 : Date.parse(before)));
    const waitSeconds = Math.ceil((begins.getTime() - now.getTime()) / 1000);
    if (waitSeconds > longestWaitSeconds) throw fullLine(begins, waitSeconds - longestWaitSeconds);
    const data = { schema: 1, until: addSeconds(begins, 60 * minutes) };
    transaction.write({ kind: 'set', ...place, data });
    return begins;
  });

const fullLine = (begins: Date, retryAfterSeconds: number): Problem =>
  new Problem('conflict', `Events that were asked for before are sent again until ${begins.toISOString()}.`, {
    advice: 'Ask again when fewer wait, or read the record itself, which has every event.',
    retryAfterSeconds,
  });

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
