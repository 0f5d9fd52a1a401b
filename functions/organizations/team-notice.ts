/**
 * What the webhook is told of a team that was moved or restored: the admins that it had when it stood alone, who may not know,
 * and who was removed by it, and why. All of it follows from the event, so a replay tells the same.
 */
import type { Member } from '../../shared/organization/organization.js';
import type { EventRecord } from './documents.js';

const outside = 'They are no members of the organization that the team moved into.';
const added = 'They were no members of the team before its migration.';
const gone = 'They had left the organization that the team came back into.';

interface State {
  readonly team?: { readonly name?: string };
  readonly members?: readonly Member[];
}

/** The data of the message. Undefined: the event is told as all others are. */
export function movedData({ action, actor, organizationId, teamId, before, after, stayed = [] }: EventRecord) {
  const [was, is] = [before, after] as readonly (State | null)[];
  const [left, came] = [was?.members ?? [], is?.members ?? []];
  const name = was?.team?.name;
  const told = (members: readonly Member[]) => ({
    ...{ teamId, name, organizationId, actor },
    admins: emailsOf(members.filter(({ role }) => role === 'admin')),
  });
  if (action === 'team-migrated') return { ...told([...stayed, ...left]), ...removedFor(left, outside) };
  if (action !== 'team-detached' && action !== 'team-migration-undone') return undefined;
  const then = [...stayed, ...came];
  const stay = new Set(then.map(({ email }) => email));
  return {
    ...told(then),
    ...removedFor(
      left.filter(({ email }) => !stay.has(email)),
      added,
    ),
  };
}

/** Of a team that comes back without some members. */
export function leftOut({ action, before }: EventRecord): object {
  return action === 'team-restored' ? removedFor((before as State | null)?.members ?? [], gone) : {};
}

const emailsOf = (members: readonly Member[]): string[] => members.map(({ email }) => email).sort();
const removedFor = (members: readonly Member[], why: string): object =>
  members.length === 0 ? {} : { removed: emailsOf(members), why };
