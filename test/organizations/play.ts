/**
 * Plays actions of the model on the API. Names that a test gives to organizations and teams become the ids that the API
 * gave them.
 */
import type { Organization } from '../../shared/organization/organization.js';
import type { MigrationReply, Team } from '../../shared/organization/team.js';
import type { ProblemBody } from '../../shared/problems.js';
import type { Action, Outcome, World } from './model.js';
import {
  type Asked,
  detailOf,
  type Operation,
  type OrganizationsServer,
  type Replied,
} from './organizations-server.js';

export interface Player {
  /** What the API replied; 503 is asked again until it is another. */
  play(action: Action): Promise<Outcome>;
  /** Ids by the test's names. */
  readonly ids: ReadonlyMap<string, string>;
  /** With the API's ids in place of the test's names. */
  translated(world: World): World;
}

/** Why, whenever they remove somebody from a team. */
export const saidBy = (actor: string): string => `says ${actor}`;
/** Why, from an organization. It is for that organization alone. */
const saidInside = (actor: string): string => `says ${actor} inside`;

/** No such thing, but of the right form. */
const nobodysUuid = '00000000-0000-4000-8000-000000000000';
const nobodysTeam = '2147483646';
/** A removal of several transactions may die in each of them. */
const patience = 60;

/** `ids` are shared by players of one world. */
export function createPlayer(server: OrganizationsServer, ids = new Map<string, string>()): Player {
  const organizationId = (name: string): string => ids.get(name) ?? nobodysUuid;
  const teamId = (name: string): string => ids.get(name) ?? nobodysTeam;

  function requestOf(action: Action): Asked {
    switch (action.kind) {
      case 'createOrganization':
        return { body: { name: action.organization } };
      case 'addOrganizationMember':
        return {
          params: { organizationId: organizationId(action.organization) },
          body: { email: action.email, role: action.role },
        };
      case 'setOrganizationMemberRole':
        return {
          params: { organizationId: organizationId(action.organization), email: action.email },
          body: { role: action.role },
        };
      case 'removeOrganizationMember':
        return {
          params: { organizationId: organizationId(action.organization), email: action.email },
          query: { ...(action.force && { force: 'true' }), why: saidInside(action.by) },
        };
      case 'createTeam':
        return {
          body: {
            name: action.team,
            ...(action.organization === undefined ? {} : { organizationId: organizationId(action.organization) }),
          },
        };
      case 'addOrganizationMembers':
      case 'inviteMembers':
        return {
          params: { organizationId: organizationId(action.organization) },
          body: { members: action.emails.map((email) => ({ email, role: action.role })) },
        };
      case 'addTeamMembers':
        return {
          params: { teamId: teamId(action.team) },
          body: { members: action.emails.map((email) => ({ email, role: action.role })) },
        };
      case 'resendInvitation':
      case 'revokeInvitation':
        return { params: { organizationId: organizationId(action.organization), email: action.email } };
      case 'acceptInvitation':
      case 'declineInvitation':
        return { params: { organizationId: organizationId(action.organization) } };
      case 'renameOrganization':
        return { params: { organizationId: organizationId(action.organization) }, body: { name: 'Renamed' } };
      case 'deleteOrganization':
      case 'restoreOrganization':
        return { params: { organizationId: organizationId(action.organization) } };
      case 'setOrganizationCeilings':
        return { params: { organizationId: organizationId(action.organization) }, body: { living: action.living } };
      case 'setTeamCeilings':
        return { params: { teamId: teamId(action.team) }, body: { living: action.living } };
      case 'renameTeam':
        return { params: { teamId: teamId(action.team) }, body: { name: 'Renamed' } };
      case 'setTeamMemberRole':
        return { params: { teamId: teamId(action.team), email: action.email }, body: { role: action.role } };
      case 'deleteTeam':
      case 'restoreTeam':
        return { params: { teamId: teamId(action.team) } };
      case 'addTeamMember':
        return { params: { teamId: teamId(action.team) }, body: { email: action.email, role: action.role } };
      case 'removeTeamMember':
        return { params: { teamId: teamId(action.team), email: action.email }, query: { why: saidBy(action.by) } };
      case 'proposeTransfer': {
        const to = action.organization === undefined ? null : organizationId(action.organization);
        return { params: { teamId: teamId(action.team) }, body: { organizationId: to, force: action.force } };
      }
      case 'acceptTransfer':
      case 'refuseTransfer': {
        const transferId = action.organization === undefined ? 'standalone' : organizationId(action.organization);
        return { params: { teamId: teamId(action.team), transferId } };
      }
      case 'undoMigration':
        return { params: { teamId: teamId(action.team), migrationId: 'latest' } };
      case 'detachTeam':
        return { params: { teamId: teamId(action.team) } };
      case 'migrateTeam':
        return {
          params: { teamId: teamId(action.team) },
          body: { organizationId: organizationId(action.organization), force: action.force },
        };
    }
  }

  /** The members that a migration's reply or refusal names; of the refusal, also in the words the spec asks for. */
  function named(action: Action, reply: Replied): readonly string[] | undefined {
    if (action.kind === 'restoreTeam' && reply.status === 200) return (reply.body as MigrationReply).removedMembers;
    if (!['migrateTeam', 'proposeTransfer', 'acceptTransfer'].includes(action.kind) || !('team' in action))
      return undefined;
    if (reply.status === 200) return (reply.body as MigrationReply).removedMembers;
    if (reply.status !== 400) return undefined;
    const { members } = reply.body as ProblemBody & { readonly members: readonly string[] };
    const words = `Team ${teamId(action.team)} cannot be migrated because these members are not members of the new organization: ${members.join(', ')}. Add them to the organization first, or use the force option to remove them from the team.`;
    if (detailOf(reply) !== words) throw new Error(`The refusal reads: ${detailOf(reply)}`);
    return members;
  }

  return {
    ids,
    async play(action) {
      const operation: Operation = action.kind;
      const asked = { as: action.by, ...requestOf(action) };
      let reply = await server.ask(operation, asked);
      for (let again = 0; reply.status === 503 && again < patience; again++) reply = await server.ask(operation, asked);
      if (reply.status === 201) {
        if (action.kind === 'createOrganization') ids.set(action.organization, (reply.body as Organization).id);
        if (action.kind === 'createTeam') ids.set(action.team, String((reply.body as Team).teamId));
      }
      const names = named(action, reply);
      return { status: reply.status, ...(names === undefined ? {} : { named: names }) };
    },
    translated: ({ organizations, teams, transfers }) => ({
      transfers,
      organizations: new Map([...organizations].map(([name, each]) => [organizationId(name), each])),
      teams: new Map(
        [...teams].map(([name, { organization, ...rest }]) => [
          teamId(name),
          { ...rest, organization: organization === undefined ? undefined : organizationId(organization) },
        ]),
      ),
    }),
  };
}
