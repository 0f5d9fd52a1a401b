/** Tells the deployment's webhook of every event, in the commit of the event. */
import { collections } from '../../shared/names.js';
import type { Context } from '../context.js';
import type { Write } from '../store/store.js';
import { noticeWrite } from '../webhook/notices.js';
import type { EventWrite } from './events.js';

const isEvent = (write: Write): write is EventWrite =>
  write.kind === 'create' && write.collection === collections.organizationEvents;

/** `member-role-changed` is told as `member.role-changed`. */
const typeOf = (action: string): string => action.replace('-', '.');

/** A message has no room for the members of a large team, so it counts them. */
function brief(state: unknown): unknown {
  if (typeof state !== 'object' || state === null || !('members' in state)) return state;
  const { members, ...rest } = state;
  return { ...rest, members: Array.isArray(members) ? members.length : 0 };
}

function noticeOf({ id, data }: Pick<EventWrite, 'id' | 'data'>): Write {
  const { id: eventId, at, action, organizationId, actor, email, teamId, version, before, after } = data;
  const told = { id: eventId, organizationId, teamId, email, actor, version };
  return noticeWrite(id, { type: typeOf(action), at, data: { ...told, before: brief(before), after: brief(after) } });
}

/** None without a webhook. An event that has a notice of its own gets no second one. */
export function noticesOf({ webhookUrl }: Pick<Context['config'], 'webhookUrl'>, writes: readonly Write[]): Write[] {
  if (webhookUrl === undefined) return [];
  const told = new Set(writes.filter(({ collection }) => collection === collections.notices).map(({ id }) => id));
  return writes
    .filter(isEvent)
    .filter(({ id }) => !told.has(id))
    .map(noticeOf);
}
