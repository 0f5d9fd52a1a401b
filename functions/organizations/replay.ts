/**
 * Sends events to the deployment's webhook again, oldest first. Each message is as it was, with the same id. So a receiver that
 * has it already knows the repeat.
 */
import { addSeconds } from '../../shared/add-seconds.js';
import type { Replayed } from '../../shared/organization/replay.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { Caller } from '../identity/auth.js';
import { persist } from '../store/persist.js';
import type { Document, Write } from '../store/store.js';
import { liftEvent } from './documents.js';
import { checkTeamRecord, idsSince, readEventsFrom, type Whose } from './events.js';
import { noticeOf } from './notices.js';
import { checkAdmin, seeOrganization } from './rights.js';

/** One call asks for so many. The answer says where the next one goes on. */
const perCall = 1000;
const perCommit = 100;
const perQuery = 100;
/** Half of what sweep sends in a minute. The other half stays for what happens meanwhile. */
const perMinute = 50;

interface Asked {
  /** An ISO time. */
  readonly since?: string | undefined;
  readonly eventId?: string | undefined;
}

type Replaying = Pick<Context, 'store' | 'clock' | 'config'>;

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
  const { store, clock, config } = context;
  if (config.webhookUrl === undefined) {
    throw new Problem('conflict', 'This deployment has no webhook, so nothing can be sent to it again.', {
      advice: 'Ask an operator to set PLINTH_WEBHOOK_URL.',
    });
  }
  const found = await eventsSince(context, whose, asked);
  const now = clock.now();
  // What waits already is sent at that time instead.
  const notices = found.slice(0, perCall).map(({ id, data }, i): Write => {
    const dueAt = addSeconds(now, 60 * Math.floor(i / perMinute));
    return { ...noticeOf({ id, data: liftEvent(data) }, dueAt), kind: 'set' };
  });
  for (let i = 0; i < notices.length; i += perCommit) {
    await persist(() => store.commit(notices.slice(i, i + perCommit)));
  }
  const next = found[perCall];
  return { events: notices.length, ...(next !== undefined && { next: String(next.data['id']) }) };
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
