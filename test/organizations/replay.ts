/**
 * Plays the recorded events again, in the order of their commits, and looks at the world after each: so every moment that
 * there was is checked, not only those at which somebody happened to look.
 */
import type { Ceilings } from '../../shared/organization/ceilings.js';
import type { Member } from '../../shared/organization/organization.js';
import { emptyWorld, faultsIn, type World } from './model.js';
import type { StoredEvent } from './snapshot.js';

interface TeamState {
  readonly organizationId: string | null;
  readonly members: readonly Member[];
}

const invites = new Set(['member-invited', 'invitation-declined', 'invitation-revoked']);

const ofOrganizations = new Set([
  'organization-renamed',
  'organization-ceilings-set',
  'organization-deleted',
  'organization-restored',
]);

interface Limited {
  readonly ceilings?: Ceilings;
}

/** Throws nothing: `fault` takes what is wrong. */
function setCeilings(
  of: { living?: number | undefined },
  { before, after }: Pick<StoredEvent, 'before' | 'after'>,
  fault: (text: string) => void,
): void {
  const had = (before as Limited).ceilings?.living;
  if (of.living !== had) fault(`had a ceiling of ${of.living}, and not ${had}`);
  of.living = (after as Limited).ceilings?.living;
}

const sorted = (members: Iterable<readonly [string, string]>): string =>
  JSON.stringify([...members].sort(([a], [b]) => (a < b ? -1 : 1)));

export function replay(events: readonly StoredEvent[]): { readonly world: World; readonly faults: readonly string[] } {
  const world = emptyWorld();
  const faults: string[] = [];
  const versions = new Map<string, number>();
  for (const [i, event] of events.entries()) {
    const { action, actor, organizationId, email = '', teamId, version } = event;
    const fault = (text: string): void => void faults.push(`event ${i} (${action} ${email} ${teamId ?? ''}): ${text}`);
    const about = teamId === undefined ? `${organizationId} ${email || actor}` : `team ${teamId}`;
    const organization = world.organizations.get(organizationId ?? '');
    const expected = (versions.get(about) ?? 0) + 1;
    const isOrganization = ofOrganizations.has(action);
    if (isOrganization) {
      if (organization === undefined) fault('of what is not there');
      else if (action === 'organization-ceilings-set') setCeilings(organization, event, fault);
      else if (action !== 'organization-renamed') {
        const deletes = action === 'organization-deleted';
        if ((organization.deleted ?? false) === deletes) fault('was so already');
        organization.deleted = deletes;
      }
      for (const text of faultsIn(world)) fault(`then ${text}`);
      continue;
    }
    if (action.startsWith('team-transfer-')) continue;
    if (invites.has(action)) {
      if (organization === undefined) fault('of what is not there');
      const was = event.before as Member | null;
      const had = organization?.invited.get(email);
      if (had !== was?.role) fault(`was invited as ${had}, and not ${was?.role}`);
      if (action === 'member-invited') organization?.invited.set(email, (event.after as Member).role);
      else organization?.invited.delete(email);
      for (const text of faultsIn(world)) fault(`then ${text}`);
      continue;
    }
    if (version !== expected) fault(`is number ${version} of ${about}, and not ${expected}`);
    versions.set(about, expected);
    const team = world.teams.get(String(teamId));
    const before = event.before as Member | null;
    const after = event.after as Member | null;
    const members = action.startsWith('team-') ? team?.members : organization?.members;
    if (members === undefined && !action.endsWith('-created')) {
      fault('of what is not there');
      continue;
    }
    const had = members?.get(email);
    if (action === 'invitation-accepted' && organization?.invited.get(email) !== after?.role) {
      fault('was not invited so');
    }
    switch (action) {
      case 'organization-created':
        world.organizations.set(organizationId ?? '', {
          members: new Map([[actor, 'admin']]),
          invited: new Map(),
        });
        break;
      case 'team-created':
        world.teams.set(String(teamId), {
          organization: organizationId ?? undefined,
          members: new Map([[actor, 'admin']]),
        });
        break;
      case 'invitation-accepted':
      case 'member-added':
      case 'team-member-added':
        if (had !== undefined || before !== null) fault(`was there already, as ${had}`);
        if (after?.email !== email) fault(`says ${JSON.stringify(after)} after it`);
        members?.set(email, after?.role ?? 'member');
        if (!action.startsWith('team-')) organization?.invited.delete(email);
        break;
      case 'member-role-changed':
      case 'team-member-role-changed':
        if (had === undefined || before?.role !== had) fault(`was ${had}, and not ${before?.role}`);
        members?.set(email, after?.role ?? 'member');
        break;
      case 'member-removed':
      case 'team-member-removed':
        if (had === undefined || before?.role !== had) fault(`was ${had}, and not ${before?.role}`);
        if (after !== null) fault(`says ${JSON.stringify(after)} after it`);
        members?.delete(email);
        break;
      case 'team-migrated': {
        if (team === undefined) break;
        const { stayed = [] } = event;
        const was = event.before as TeamState;
        const known = [...stayed, ...was.members].map((each) => [each.email, each.role] as const);
        if (sorted(team.members) !== sorted(known)) {
          fault(`had ${sorted(team.members)}, and not ${sorted(known)}`);
        }
        if (team.organization !== undefined) fault(`was in ${team.organization} already`);
        team.organization = organizationId ?? undefined;
        for (const { email: left } of was.members) {
          if (!stayed.some((each) => each.email === left)) team.members.delete(left);
        }
        break;
      }
    }
    if (action === 'team-ceilings-set' && team !== undefined) {
      const of = (state: unknown) => (state as { readonly team: Limited }).team;
      setCeilings(team, { before: of(event.before), after: of(event.after) }, fault);
    }
    if (action === 'team-deleted' && team !== undefined) {
      const was = event.before as TeamState;
      const known = was.members.map((each) => [each.email, each.role] as const);
      if (sorted(team.members) !== sorted(known)) fault(`had ${sorted(team.members)}, and not ${sorted(known)}`);
      if (team.deleted) fault('was deleted already');
      team.deleted = true;
    }
    if (action === 'team-restored' && team !== undefined) {
      const { stayed = [] } = event;
      const was = event.before as TeamState;
      const known = [...stayed, ...was.members].map((each) => [each.email, each.role] as const);
      if (sorted(team.members) !== sorted(known)) fault(`had ${sorted(team.members)}, and not ${sorted(known)}`);
      if (!team.deleted) fault('was not deleted');
      team.deleted = false;
      for (const { email: left } of was.members) team.members.delete(left);
    }
    if ((action === 'team-detached' || action === 'team-migration-undone') && team !== undefined) {
      const { stayed = [] } = event;
      const was = event.before as TeamState;
      const known = [...stayed, ...was.members].map((each) => [each.email, each.role] as const);
      if (sorted(team.members) !== sorted(known)) fault(`had ${sorted(team.members)}, and not ${sorted(known)}`);
      if (team.organization === undefined) fault('was in no organization');
      team.organization = undefined;
      team.members.clear();
      for (const { email: back, role } of [...stayed, ...(event.after as TeamState).members])
        team.members.set(back, role);
    }
    if (action === 'team-left' && team !== undefined) {
      const known = (event.stayed ?? []).map((each) => [each.email, each.role] as const);
      if (sorted(team.members) !== sorted(known)) fault(`had ${sorted(team.members)}, and not ${sorted(known)}`);
      if (team.organization === undefined) fault('was in no organization');
      team.organization = undefined;
      // It goes on to another organization in the same commit, so in between there is no moment.
      const next = events[i + 1];
      if (next?.action === 'team-migrated' && next.teamId === teamId && next.at === event.at) continue;
    }
    for (const text of faultsIn(world)) fault(`then ${text}`);
  }
  return { world, faults };
}
