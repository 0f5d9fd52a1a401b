/** Notifies the deployment's webhook that a team was moved, and lists its admins, who may not know. */
import type { Member } from '../../shared/organization/organization.js';
import type { Context } from '../context.js';
import type { Write } from '../store/store.js';
import { noticeWrite } from '../webhook/notices.js';
import type { TeamRecord } from './documents.js';
import type { EventWrite } from './events.js';

const types = { 'team-migrated': 'team.migrated', 'team-detached': 'team.detached' } as const;

/** `members` are those of the standalone team. Without a webhook, there are no writes. */
export function tellAdmins(
  { config: { webhookUrl } }: Pick<Context, 'config'>,
  { id, data: { action, actor, at, organizationId } }: EventWrite,
  { teamId, name }: TeamRecord,
  members: readonly Member[],
): Write[] {
  if (webhookUrl === undefined) return [];
  const admins = members.filter(({ role }) => role === 'admin').map(({ email }) => email);
  const data = { teamId, name, organizationId, actor, admins: admins.sort() };
  return [noticeWrite(id, { type: types[action as keyof typeof types], at, data })];
}
