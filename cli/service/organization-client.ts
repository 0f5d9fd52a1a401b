/**
 * The client of the organization API: one method per operation of the route table. Each is safe to repeat when an answer is
 * lost.
 */
import * as z from 'zod';
import type { Ceilings } from '../../shared/organization/ceilings.js';
import {
  AddedMembers,
  Invitation,
  Invited,
  Member,
  Organization,
  type Role,
} from '../../shared/organization/organization.js';
import { organizationRoutes as routes } from '../../shared/organization/routes.js';
import { Team } from '../../shared/organization/team.js';
import { type EventFilter, type Events, eventsOf } from './event-calls.js';
import { type AddedMember, createCalls } from './organization-calls.js';
import { type TeamClient, teamCalls } from './team-client.js';
import type { ServiceTransport } from './transport.js';

interface Removal {
  /** From the teams of the organization, too. */
  readonly force: boolean;
  readonly why?: string | undefined;
}

export interface OrganizationClient extends TeamClient {
  /** The living ones, or those that can be restored. */
  organizations(deleted?: boolean): Promise<Organization[]>;
  createOrganization(name: string): Promise<Organization>;
  renameOrganization(organizationId: string, name: string): Promise<Organization>;
  organization(organizationId: string): Promise<Organization>;
  /** All of them: one that is left out is removed. */
  setCeilings(organizationId: string, ceilings: Ceilings): Promise<Organization>;
  /** Undefined if an earlier try, whose answer was lost, has deleted it. */
  deleteOrganization(organizationId: string): Promise<Organization | undefined>;
  restoreOrganization(organizationId: string): Promise<Organization>;
  members(organizationId: string): Promise<Member[]>;
  addMember(organizationId: string, email: string, role: Role | undefined): Promise<AddedMember>;
  addMembers(organizationId: string, members: readonly Member[]): Promise<AddedMembers>;
  invite(organizationId: string, members: readonly Member[]): Promise<Invited>;
  invitations(organizationId: string): Promise<Invitation[]>;
  /** The caller's own. */
  ownInvitations(): Promise<Invitation[]>;
  resendInvitation(organizationId: string, email: string): Promise<Invitation>;
  revokeInvitation(organizationId: string, email: string): Promise<void>;
  acceptInvitation(organizationId: string): Promise<AddedMember>;
  declineInvitation(organizationId: string): Promise<void>;
  setRole(organizationId: string, email: string, role: Role): Promise<Member>;
  removeMember(organizationId: string, email: string, how: Removal): Promise<void>;
  organizationTeams(organizationId: string): Promise<Team[]>;
  /** One call sends the first of them, and says where the next one goes on. */
  /** Newest first, at most `most` of them. */
  events(organizationId: string, most: number, filter: EventFilter): Promise<Events>;
}

export function createOrganizationClient(transport: ServiceTransport): OrganizationClient {
  const calls = createCalls(transport);
  const { ask, askPatiently, list, add, onlyDeleted } = calls;

  return {
    organizations: (deleted = false) => list(Organization, routes.listOrganizations, {}, onlyDeleted(deleted)),
    createOrganization: (name) => ask(Organization, routes.createOrganization, { body: { name } }),
    renameOrganization: (organizationId, name) =>
      ask(Organization, routes.renameOrganization, { params: { organizationId }, body: { name } }),
    organization: (organizationId) => ask(Organization, routes.getOrganization, { params: { organizationId } }),
    setCeilings: (organizationId, ceilings) =>
      ask(Organization, routes.setOrganizationCeilings, { params: { organizationId }, body: ceilings }),
    deleteOrganization: (organizationId) =>
      ask(Organization.optional(), routes.deleteOrganization, { params: { organizationId } }),
    restoreOrganization: (organizationId) =>
      ask(Organization, routes.restoreOrganization, { params: { organizationId } }),
    members: (organizationId) => list(Member, routes.listOrganizationMembers, { organizationId }),
    addMember: (organizationId, email, role) => add(routes.addOrganizationMember, { organizationId }, email, role),
    addMembers: (organizationId, members) =>
      ask(AddedMembers, routes.addOrganizationMembers, { params: { organizationId }, body: { members } }),
    invite: (organizationId, members) =>
      ask(Invited, routes.inviteMembers, { params: { organizationId }, body: { members } }),
    invitations: (organizationId) => list(Invitation, routes.listInvitations, { organizationId }),
    ownInvitations: () => list(Invitation, routes.listOwnInvitations),
    resendInvitation: (organizationId, email) =>
      ask(Invitation, routes.resendInvitation, { params: { organizationId, email } }),
    revokeInvitation: (organizationId, email) =>
      ask(z.undefined(), routes.revokeInvitation, { params: { organizationId, email } }),
    async acceptInvitation(organizationId) {
      const { data: member, status } = await askPatiently(Member, routes.acceptInvitation, {
        params: { organizationId },
      });
      return { member, added: status === 201 };
    },
    declineInvitation: (organizationId) => ask(z.undefined(), routes.declineInvitation, { params: { organizationId } }),
    setRole: (organizationId, email, role) =>
      ask(Member, routes.setOrganizationMemberRole, { params: { organizationId, email }, body: { role } }),
    removeMember: (organizationId, email, { force, why }) =>
      ask(z.undefined(), routes.removeOrganizationMember, {
        params: { organizationId, email },
        query: { ...(force && { force: 'true' }), ...(why !== undefined && { why }) },
      }),
    organizationTeams: (organizationId) => list(Team, routes.listOrganizationTeams, { organizationId }),

    events: (organizationId, most, filter) =>
      eventsOf(calls, routes.listOrganizationEvents, { organizationId }, most, filter),

    ...teamCalls(calls),
  };
}
