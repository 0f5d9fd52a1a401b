/**
 * What the webhook is told of a team that was moved or restored: the admins that it had when it stood alone, who may not know,
 * and who was removed by it, and why. All of it follows from the event.
 */
import type { Member } from '../../../shared/organization/organization.js';
import type { EventRecord } from '../documents.js';

const outside = "They are not members of the team's new organization.";
const added = 'They were no members of the team before its migration.';
const gone = 'They had left the organization that the team came back into.';

interface State {
  readonly team?: { readonly name?: string };
  readonly members?: readonly Member[];
}

const statesOf = ({ before, after }: EventRecord) => {
  const [was, is] = [before, after] as readonly (State | null)[];
  return { name: was?.team?.name, left: was?.members ?? [], came: is?.members ?? [] };
};

/** The data of the message. Undefined: the event is told as all others are. */
export function movedData(event: EventRecord) {
  const { action, actor, organizationId, teamId, stayed = [] } = event;
  const { name, left, came } = statesOf(event);
  const told = (members: readonly Member[]) => ({
    ...{ teamId, name, organizationId, actor },
    admins: emailsOf(members.filter(({ role }) => role === 'admin')),
    ...removedBy(event),
  });
  if (action === 'team-migrated') return told([...stayed, ...left]);
  return action === 'team-detached' || action === 'team-migration-undone' ? told([...stayed, ...came]) : undefined;
}

/** Who was removed from the team or the organization, and why. Of one who was removed alone, only what was said of it. */
export function removedBy(event: EventRecord): { readonly removed?: string[]; readonly why?: string } {
  const { action, why } = event;
  const { left, came } = statesOf(event);
  if (action === 'team-migrated') return removedFor(left, outside);
  if (action === 'team-restored') return removedFor(left, gone);
  if (action !== 'team-detached' && action !== 'team-migration-undone') return why === undefined ? {} : { why };
  const back = new Set(came.map(({ email }) => email));
  return removedFor(
    left.filter(({ email }) => !back.has(email)),
    added,
  );
}

const emailsOf = (members: readonly Member[]): string[] => members.map(({ email }) => email).sort();
const removedFor = (members: readonly Member[], why: string) =>
  members.length === 0 ? {} : { removed: emailsOf(members), why };
