/** Tells the deployment's webhook of a team that was moved, with the admins that it had, who may know nothing of it. */
import type { Member } from '../../shared/organization/organization.js';
import type { Context } from '../context.js';
import type { Write } from '../store/store.js';
import { noticeWrite } from '../webhook/notices.js';
import type { TeamRecord } from './documents.js';
import type { EventWrite } from './events.js';

const types = { 'team-migrated': 'team.migrated', 'team-detached': 'team.detached' } as const;

/** `members`: of the team as it stands alone. Nothing without a webhook. */
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
