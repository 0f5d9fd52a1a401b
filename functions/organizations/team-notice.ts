/** Notifies the deployment's webhook that a team was moved, and lists its admins, who may not know. */
import type { Member } from '../../shared/organization/organization.js';
import type { Context } from '../context.js';
import type { Write } from '../store/store.js';
import { noticeWrite } from '../webhook/notices.js';
import type { TeamRecord } from './documents.js';
import type { EventWrite } from './events.js';

const types = {
  'team-migrated': 'team.migrated',
  'team-detached': 'team.detached',
  'team-migration-undone': 'team.migration-undone',
} as const;

const outside = 'They are no members of the organization that the team moved into.';
const added = 'They were no members of the team before its migration.';

/** `members` are those of the standalone team, `removed` who left by the move. Without a webhook, there are no writes. */
export function tellAdmins(
  { config: { webhookUrl } }: Pick<Context, 'config'>,
  { id, data: { action, actor, at, organizationId } }: EventWrite,
  { teamId, name }: TeamRecord,
  members: readonly Member[],
  removed: readonly string[] = [],
): Write[] {
  if (webhookUrl === undefined) return [];
  const admins = members.filter(({ role }) => role === 'admin').map(({ email }) => email);
  const why = action === 'team-migrated' ? outside : added;
  const who = removed.length === 0 ? {} : { removed, why };
  const data = { teamId, name, organizationId, actor, admins: admins.sort(), ...who };
  return [noticeWrite(id, { type: types[action as keyof typeof types], at, data })];
}
