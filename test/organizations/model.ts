/**
 * What the organization API must do, said once more and as simply as possible: plain maps, one call after another. The
 * tests play the same operations on both and compare replies and state.
 */
import type { Role } from '../../shared/organization/organization.js';

export interface ModelOrganization {
  readonly members: Map<string, Role>;
  readonly invited: Map<string, Role>;
  /** It can be restored, and does not show until then. */
  deleted?: boolean;
  /** How many bootstraps its teams may have at once. */
  living?: number | undefined;
}
export interface ModelTeam {
  /** Undefined: standalone. Of a deleted team: where it was. */
  organization: string | undefined;
  deleted?: boolean;
  readonly members: Map<string, Role>;
  /** As it stood alone; undefined for one that was made in its organization. */
  former?: ReadonlyMap<string, Role> | undefined;
  /** It came from another organization, by agreement. */
  agreed?: boolean;
  /** How many bootstraps it may have at once. */
  living?: number | undefined;
}

export interface ModelTransfer {
  readonly by: string;
  readonly force: boolean;
}

export interface World {
  readonly organizations: Map<string, ModelOrganization>;
  readonly teams: Map<string, ModelTeam>;
  /** By team and where it is to go, as `transferKey` has them. */
  readonly transfers: Map<string, ModelTransfer>;
}

export const transferKey = (team: string, to: string | undefined): string => `${team}~${to ?? 'standalone'}`;

export const emptyWorld = (): World => ({ organizations: new Map(), teams: new Map(), transfers: new Map() });

/** One call, with names of the test's own for organizations and teams. */
export type Action = { readonly by: string } & (
  | { readonly kind: 'createOrganization'; readonly organization: string }
  | {
      readonly kind: 'addOrganizationMember';
      readonly organization: string;
      readonly email: string;
      readonly role: Role;
    }
  | {
      readonly kind: 'setOrganizationMemberRole';
      readonly organization: string;
      readonly email: string;
      readonly role: Role;
    }
  | {
      readonly kind: 'removeOrganizationMember';
      readonly organization: string;
      readonly email: string;
      readonly force: boolean;
    }
  | {
      readonly kind: 'addOrganizationMembers' | 'inviteMembers';
      readonly organization: string;
      readonly emails: readonly string[];
      readonly role: Role;
    }
  | {
      readonly kind: 'addTeamMembers';
      readonly team: string;
      readonly emails: readonly string[];
      readonly role: Role;
    }
  | { readonly kind: 'revokeInvitation' | 'resendInvitation'; readonly organization: string; readonly email: string }
  | { readonly kind: 'acceptInvitation' | 'declineInvitation'; readonly organization: string }
  | {
      readonly kind: 'renameOrganization' | 'deleteOrganization' | 'restoreOrganization';
      readonly organization: string;
    }
  | { readonly kind: 'setOrganizationCeilings'; readonly organization: string; readonly living: number | undefined }
  | { readonly kind: 'renameTeam' | 'deleteTeam' | 'restoreTeam'; readonly team: string }
  | { readonly kind: 'setTeamCeilings'; readonly team: string; readonly living: number | undefined }
  | { readonly kind: 'setTeamMemberRole'; readonly team: string; readonly email: string; readonly role: Role }
  | {
      readonly kind: 'proposeTransfer';
      readonly team: string;
      readonly organization: string | undefined;
      readonly force: boolean;
    }
  | {
      readonly kind: 'acceptTransfer' | 'refuseTransfer';
      readonly team: string;
      readonly organization: string | undefined;
    }
  | { readonly kind: 'createTeam'; readonly team: string; readonly organization: string | undefined }
  | { readonly kind: 'addTeamMember'; readonly team: string; readonly email: string; readonly role: Role }
  | { readonly kind: 'removeTeamMember'; readonly team: string; readonly email: string }
  | { readonly kind: 'detachTeam' | 'undoMigration'; readonly team: string }
  | { readonly kind: 'migrateTeam'; readonly team: string; readonly organization: string; readonly force: boolean }
);
export type ActionKind = Action['kind'];

export interface Rules {
  readonly operators: ReadonlySet<string>;
  /** Anyone may make organizations; then a migration needs an admin of the team as well. */
  readonly anyoneCreates: boolean;
}

export interface Outcome {
  readonly status: number;
  /** Members that a migration or its refusal names. */
  readonly named?: readonly string[];
}

const admins = (members: ReadonlyMap<string, Role>): number =>
  [...members.values()].filter((role) => role === 'admin').length;

/** Would the last admin go? */
const isLastAdmin = (members: ReadonlyMap<string, Role>, email: string): boolean =>
  members.get(email) === 'admin' && admins(members) === 1;

function adding(members: Map<string, Role>, email: string, role: Role): Outcome {
  const had = members.get(email);
  if (had !== undefined) return { status: had === role ? 200 : 409 };
  members.set(email, role);
  return { status: 201 };
}

function sidesOf(world: World, by: string, operator: boolean, name: string, to: string | undefined) {
  const found = world.teams.get(name);
  const team = found?.deleted ? undefined : found;
  const roleIn = (organization: string | undefined) =>
    organization === undefined ? undefined : world.organizations.get(organization)?.members.get(by);
  const own = team?.members.get(by);
  const governs = (role: Role | undefined): boolean => operator || role === 'admin';
  return {
    team,
    source: team !== undefined && governs(team.organization === undefined ? own : roleIn(team.organization)),
    target: to === undefined ? team !== undefined && governs(own) : governs(roleIn(to)),
    seesTeam: team !== undefined && (operator || own !== undefined || roleIn(team.organization) === 'admin'),
    seesTarget: operator || roleIn(to) !== undefined,
  };
}

function moving(world: World, team: ModelTeam, to: string | undefined, force: boolean): Outcome {
  if (to === undefined) {
    if (admins(team.members) === 0) return { status: 409 };
    standAlone(team, new Map(team.members));
    return { status: 200, named: [] };
  }
  const organization = world.organizations.get(to);
  if (organization === undefined || organization.deleted) return { status: 409 };
  const outside = [...team.members.keys()].filter((email) => !organization.members.has(email)).sort();
  if (outside.length > 0 && !force) return { status: 400, named: outside };
  team.former = new Map(team.members);
  team.agreed = team.organization !== undefined;
  for (const email of outside) team.members.delete(email);
  team.organization = to;
  return { status: 200, named: outside };
}

function standAlone(team: ModelTeam, members: ReadonlyMap<string, Role>): void {
  team.members.clear();
  for (const [email, role] of members) team.members.set(email, role);
  team.organization = undefined;
  team.former = undefined;
}

/** All of them, or none. */
function addingAll(members: Map<string, Role>, emails: readonly string[], role: Role): Outcome {
  if (emails.some((email) => (members.get(email) ?? role) !== role)) return { status: 409 };
  for (const email of emails) members.set(email, role);
  return { status: 200 };
}

/** Changes the world as the API must change its own, and says what it must reply. */
export function play(world: World, action: Action, { operators, anyoneCreates }: Rules): Outcome {
  const { by } = action;
  const operator = operators.has(by);
  const missing = { status: 404 };
  const denied = { status: 403 };

  const organizationOf = (name: string | undefined) => {
    const found = name === undefined ? undefined : world.organizations.get(name);
    return found === undefined || found.deleted || (!operator && !found.members.has(by)) ? undefined : found;
  };
  const governs = (organization: ModelOrganization | undefined): boolean =>
    operator || organization?.members.get(by) === 'admin';
  const governsTeam = (team: ModelTeam): boolean =>
    operator ||
    team.members.get(by) === 'admin' ||
    (team.organization !== undefined && world.organizations.get(team.organization)?.members.get(by) === 'admin');
  const teamOf = (name: string): ModelTeam | undefined => {
    const found = world.teams.get(name);
    return found === undefined || found.deleted || !(governsTeam(found) || found.members.has(by)) ? undefined : found;
  };

  switch (action.kind) {
    case 'createOrganization': {
      if (!operator && !anyoneCreates) return denied;
      world.organizations.set(action.organization, { members: new Map([[by, 'admin']]), invited: new Map() });
      return { status: 201 };
    }
    case 'addOrganizationMember': {
      const organization = organizationOf(action.organization);
      if (organization === undefined) return missing;
      if (!governs(organization)) return denied;
      const added = adding(organization.members, action.email, action.role);
      if (added.status === 201) organization.invited.delete(action.email);
      return added;
    }
    case 'addOrganizationMembers': {
      const organization = organizationOf(action.organization);
      if (organization === undefined) return missing;
      if (!governs(organization)) return denied;
      const { status } = addingAll(organization.members, action.emails, action.role);
      if (status === 200) for (const email of action.emails) organization.invited.delete(email);
      return { status };
    }
    case 'inviteMembers': {
      const organization = organizationOf(action.organization);
      if (organization === undefined) return missing;
      if (!governs(organization)) return denied;
      for (const email of action.emails) {
        if (!organization.members.has(email)) organization.invited.set(email, action.role);
      }
      return { status: 200 };
    }
    case 'resendInvitation':
    case 'revokeInvitation': {
      const organization = organizationOf(action.organization);
      if (organization === undefined) return missing;
      if (!governs(organization)) return denied;
      if (!organization.invited.has(action.email)) return missing;
      if (action.kind === 'resendInvitation') return { status: 200 };
      organization.invited.delete(action.email);
      return { status: 204 };
    }
    case 'acceptInvitation': {
      const organization = world.organizations.get(action.organization);
      if (organization === undefined || organization.deleted) return missing;
      if (organization.members.has(by)) return { status: 200 };
      const role = organization.invited.get(by);
      if (role === undefined) return missing;
      organization.invited.delete(by);
      organization.members.set(by, role);
      return { status: 201 };
    }
    case 'declineInvitation': {
      const organization = world.organizations.get(action.organization);
      if (organization === undefined || organization.deleted || !organization.invited.has(by)) return missing;
      organization.invited.delete(by);
      return { status: 204 };
    }
    case 'setOrganizationMemberRole': {
      const organization = organizationOf(action.organization);
      if (organization === undefined) return missing;
      if (!governs(organization)) return denied;
      const { members } = organization;
      if (!members.has(action.email)) return missing;
      if (action.role === 'member' && isLastAdmin(members, action.email)) return { status: 409 };
      members.set(action.email, action.role);
      return { status: 200 };
    }
    case 'removeOrganizationMember': {
      const organization = organizationOf(action.organization);
      if (organization === undefined) return missing;
      if (!governs(organization) && by !== action.email) return denied;
      const { members } = organization;
      if (!members.has(action.email)) return missing;
      if (isLastAdmin(members, action.email)) return { status: 409 };
      const holding = [...world.teams.values()].filter(
        (team) => team.organization === action.organization && !team.deleted && team.members.has(action.email),
      );
      if (holding.length > 0 && !action.force) return { status: 409 };
      for (const team of holding) team.members.delete(action.email);
      members.delete(action.email);
      return { status: 204 };
    }
    case 'renameOrganization': {
      const organization = organizationOf(action.organization);
      if (organization === undefined) return missing;
      return governs(organization) ? { status: 200 } : denied;
    }
    case 'setOrganizationCeilings': {
      const organization = organizationOf(action.organization);
      if (organization === undefined) return missing;
      if (!governs(organization)) return denied;
      organization.living = action.living;
      return { status: 200 };
    }
    case 'deleteOrganization': {
      const organization = organizationOf(action.organization);
      if (organization === undefined) return missing;
      if (!governs(organization)) return denied;
      const inIt = (team: ModelTeam): boolean => team.organization === action.organization && !team.deleted;
      if ([...world.teams.values()].some(inIt)) return { status: 409 };
      organization.deleted = true;
      return { status: 200 };
    }
    case 'restoreOrganization': {
      const organization = world.organizations.get(action.organization);
      if (organization === undefined || (!operator && !organization.members.has(by))) return missing;
      if (!governs(organization)) return denied;
      organization.deleted = false;
      return { status: 200 };
    }
    case 'renameTeam': {
      const team = teamOf(action.team);
      if (team === undefined) return missing;
      return governsTeam(team) ? { status: 200 } : denied;
    }
    case 'setTeamCeilings': {
      const team = teamOf(action.team);
      if (team === undefined) return missing;
      if (!governsTeam(team)) return denied;
      const organization = team.organization === undefined ? undefined : world.organizations.get(team.organization);
      const { living = Number.POSITIVE_INFINITY } = action;
      const most = Math.min(team.living ?? Number.POSITIVE_INFINITY, organization?.living ?? Number.POSITIVE_INFINITY);
      const raises = living > (action.living === undefined ? (team.living ?? living) : most);
      const isSame = action.living === team.living;
      if (organization !== undefined && !governs(organization) && raises && !isSame) return denied;
      team.living = action.living;
      return { status: 200 };
    }
    case 'deleteTeam': {
      const team = teamOf(action.team);
      if (team === undefined) return missing;
      if (!governsTeam(team)) return denied;
      team.deleted = true;
      return { status: 200 };
    }
    case 'restoreTeam': {
      const team = world.teams.get(action.team);
      if (team === undefined) return missing;
      const organization = team.organization === undefined ? undefined : world.organizations.get(team.organization);
      const isOutside = organization !== undefined && !organization.members.has(by);
      if (!operator && (isOutside || !(governsTeam(team) || team.members.has(by)))) return missing;
      if (!governsTeam(team)) return denied;
      if (!team.deleted) return { status: 200, named: [] };
      if (organization?.deleted) return { status: 409 };
      const outside = [...team.members.keys()].filter((email) => organization?.members.has(email) === false).sort();
      for (const email of outside) team.members.delete(email);
      team.deleted = false;
      return { status: 200, named: outside };
    }
    case 'setTeamMemberRole': {
      const team = teamOf(action.team);
      if (team === undefined) return missing;
      if (!governsTeam(team)) return denied;
      if (!team.members.has(action.email)) return missing;
      const demotes = action.role === 'member' && isLastAdmin(team.members, action.email);
      if (team.organization === undefined && demotes) return { status: 409 };
      team.members.set(action.email, action.role);
      return { status: 200 };
    }
    case 'createTeam': {
      if (action.organization !== undefined) {
        const organization = organizationOf(action.organization);
        if (organization === undefined) return missing;
        if (!governs(organization)) return denied;
        // Its first member would break the rule: an operator need not be a member.
        if (!organization.members.has(by)) return { status: 400 };
      }
      world.teams.set(action.team, { organization: action.organization, members: new Map([[by, 'admin']]) });
      return { status: 201 };
    }
    case 'addTeamMember': {
      const team = teamOf(action.team);
      if (team === undefined) return missing;
      if (!governsTeam(team)) return denied;
      const { organization } = team;
      if (organization !== undefined && !world.organizations.get(organization)?.members.has(action.email)) {
        return { status: 400 };
      }
      return adding(team.members, action.email, action.role);
    }
    case 'addTeamMembers': {
      const team = teamOf(action.team);
      if (team === undefined) return missing;
      if (!governsTeam(team)) return denied;
      const { organization } = team;
      const within = organization === undefined ? undefined : world.organizations.get(organization)?.members;
      if (within !== undefined && action.emails.some((email) => !within.has(email))) return { status: 400 };
      return addingAll(team.members, action.emails, action.role);
    }
    case 'removeTeamMember': {
      const team = teamOf(action.team);
      if (team === undefined) return missing;
      if (!governsTeam(team) && by !== action.email) return denied;
      if (!team.members.has(action.email)) return missing;
      if (team.organization === undefined && isLastAdmin(team.members, action.email)) return { status: 409 };
      team.members.delete(action.email);
      return { status: 204 };
    }
    case 'proposeTransfer': {
      const { organization: to, force } = action;
      const sides = sidesOf(world, by, operator, action.team, to);
      if (!sides.source && !sides.target) return sides.seesTeam || sides.seesTarget ? denied : missing;
      if (sides.seesTeam && sides.team?.organization === to) return { status: 409 };
      if (sides.team !== undefined && sides.source && sides.target) return moving(world, sides.team, to, force);
      world.transfers.set(transferKey(action.team, to), { by, force });
      return { status: 201 };
    }
    case 'acceptTransfer':
    case 'refuseTransfer': {
      const { organization: to } = action;
      const key = transferKey(action.team, to);
      const found = world.transfers.get(key);
      const sides = sidesOf(world, by, operator, action.team, to);
      const isOwn = found?.by === by && sides.seesTarget;
      if (!isOwn && !sides.source && !sides.target) return sides.seesTeam || sides.seesTarget ? denied : missing;
      if (found === undefined) return missing;
      if (action.kind === 'refuseTransfer') {
        world.transfers.delete(key);
        return { status: 204 };
      }
      const theirs = sidesOf(world, found.by, false, action.team, to);
      const agreed = (sides.source || theirs.source) && (sides.target || theirs.target);
      if (!agreed && found.by === by) return denied;
      if (sides.team === undefined || !agreed || sides.team.organization === to) return { status: 409 };
      const moved = moving(world, sides.team, to, found.force);
      if (moved.status === 200) world.transfers.delete(key);
      return moved;
    }
    case 'undoMigration': {
      const team = world.teams.get(action.team);
      if (team === undefined || team.deleted) return missing;
      const { organization, former } = team;
      const wasAdmin = organization !== undefined && former?.get(by) === 'admin';
      if (!governsTeam(team) && !team.members.has(by) && !wasAdmin) return missing;
      const governor = organization === undefined ? team : world.organizations.get(organization);
      const isAdmin = governor?.members.get(by) === 'admin';
      const mayMigrate = isAdmin && (!anyoneCreates || team.members.get(by) === 'admin');
      if (!operator && !mayMigrate && !wasAdmin) return denied;
      if (organization === undefined || former === undefined || team.agreed) return { status: 409 };
      standAlone(team, former);
      return { status: 200 };
    }
    case 'detachTeam': {
      const team = teamOf(action.team);
      if (team === undefined) return missing;
      if (!operator) return denied;
      const { organization, former = new Map(team.members) } = team;
      if (organization === undefined || admins(former) === 0) return { status: 409 };
      standAlone(team, former);
      return { status: 200 };
    }
    case 'migrateTeam': {
      const organization = organizationOf(action.organization);
      if (organization === undefined) return missing;
      if (!governs(organization)) return denied;
      const team = anyoneCreates ? teamOf(action.team) : world.teams.get(action.team);
      if (team === undefined || team.deleted) return missing;
      if (anyoneCreates && !governsTeam(team)) return denied;
      if (team.organization === action.organization) return { status: 200, named: [] };
      if (team.organization !== undefined) return { status: 409 };
      const outside = [...team.members.keys()].filter((email) => !organization.members.has(email)).sort();
      if (outside.length > 0 && !action.force) return { status: 400, named: outside };
      team.former = new Map(team.members);
      team.agreed = false;
      for (const email of outside) team.members.delete(email);
      team.organization = action.organization;
      return { status: 200, named: outside };
    }
  }
}

/** What is wrong with the world, in words; empty if the rules hold. */
export function faultsIn({ organizations, teams }: World): string[] {
  const faults: string[] = [];
  for (const [name, { members, invited }] of organizations) {
    for (const email of invited.keys()) {
      if (members.has(email)) faults.push(`${email} is invited into organization ${name}, and a member`);
    }
    if (admins(members) === 0) faults.push(`organization ${name} has no admin`);
  }
  for (const [name, { organization, members, deleted }] of teams) {
    if (deleted && organization !== undefined) continue;
    if (organization === undefined) {
      if (admins(members) === 0) faults.push(`standalone team ${name} has no admin`);
      continue;
    }
    if (organizations.get(organization)?.deleted)
      faults.push(`team ${name} is in deleted organization ${organization}`);
    for (const email of members.keys()) {
      if (!organizations.get(organization)?.members.has(email)) {
        faults.push(`${email} is in team ${name}, but not in its organization ${organization}`);
      }
    }
  }
  return faults;
}
