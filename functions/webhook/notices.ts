/** Notices for the deployment's webhook, as they wait in the store. Each is written in the commit of its event. */
import * as z from 'zod';
import { collections } from '../../shared/names.js';
import { lift } from '../store/lift.js';
import type { Write } from '../store/store.js';

const time = z.iso.datetime();
const keptSeconds = 7 * 86_400;

/** `notices/{id of the event's document}`. */
export const NoticeRecord = z.object({
  schema: z.literal(1),
  /** Empty for a notice about a team. */
  bootstrapId: z.string(),
  /** The same for each try. */
  webhookId: z.string(),
  /** The text that is signed and sent. */
  body: z.string(),
  dueAt: time,
  attempts: z.int(),
  expireAt: time,
});
export type NoticeRecord = z.infer<typeof NoticeRecord>;
export const liftNotice = lift('notice', NoticeRecord, 1);

interface Message {
  readonly type: string;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** `at`: an ISO time. `data`: what receivers get besides type and time. It is due at once. */
export function noticeWrite(
  id: string,
  { type, at, data }: Message,
  bootstrapId = '',
): Extract<Write, { kind: 'create' }> {
  const record: NoticeRecord = {
    schema: 1,
    bootstrapId,
    webhookId: `msg_${id.replace('~', '_')}`,
    body: JSON.stringify({ type, timestamp: at, data }),
    dueAt: at,
    attempts: 0,
    expireAt: new Date(Date.parse(at) + keptSeconds * 1000).toISOString(),
  };
  return { kind: 'create', collection: collections.notices, id, data: record };
}
