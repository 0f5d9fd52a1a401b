/**
 * The client of the organization API: one method per operation of the route table. Each is safe to repeat when an answer is
 * lost.
 */
import * as z from 'zod';
import {
  AddedMembers,
  Invitation,
  Invited,
  Member,
  Organization,
  OrganizationEvent,
  type Role,
} from '../../shared/organization/organization.js';
import { organizationRoutes as routes } from '../../shared/organization/routes.js';
import { Team } from '../../shared/organization/team.js';
import { type Added, createCalls } from './organization-calls.js';
import { type TeamClient, teamCalls } from './team-client.js';
import type { Transport } from './transport.js';

/** `more`: older events exist. */
interface Events {
  readonly events: readonly ShownEvent[];
  readonly more: boolean;
}

/** Accepts actions that only a newer service records. */
const ShownEvent = OrganizationEvent.extend({ action: z.string() });
export type ShownEvent = z.infer<typeof ShownEvent>;

export interface OrganizationClient extends TeamClient {
  /** The living ones, or those that can be restored. */
  organizations(deleted?: boolean): Promise<Organization[]>;
  createOrganization(name: string): Promise<Organization>;
  renameOrganization(organizationId: string, name: string): Promise<Organization>;
  /** Undefined if an earlier try, whose answer was lost, has deleted it. */
  deleteOrganization(organizationId: string): Promise<Organization | undefined>;
  restoreOrganization(organizationId: string): Promise<Organization>;
  members(organizationId: string): Promise<Member[]>;
  addMember(organizationId: string, email: string, role: Role | undefined): Promise<Added>;
  addMembers(organizationId: string, members: readonly Member[]): Promise<AddedMembers>;
  invite(organizationId: string, members: readonly Member[]): Promise<Invited>;
  invitations(organizationId: string): Promise<Invitation[]>;
  /** The caller's own. */
  ownInvitations(): Promise<Invitation[]>;
  resendInvitation(organizationId: string, email: string): Promise<Invitation>;
  revokeInvitation(organizationId: string, email: string): Promise<void>;
  acceptInvitation(organizationId: string): Promise<Added>;
  declineInvitation(organizationId: string): Promise<void>;
  setRole(organizationId: string, email: string, role: Role): Promise<Member>;
  removeMember(organizationId: string, email: string, force: boolean): Promise<void>;
  organizationTeams(organizationId: string): Promise<Team[]>;
  /** Newest first, at most `most` of them. */
  events(organizationId: string, most: number): Promise<Events>;
}

/** The API's own page limit. */
const mostOfPage = 200;

export function createOrganizationClient(transport: Transport): OrganizationClient {
  const calls = createCalls(transport);
  const { ask, askPatiently, list, add, onlyDeleted } = calls;

  return {
    organizations: (deleted = false) => list(Organization, routes.listOrganizations, {}, onlyDeleted(deleted)),
    createOrganization: (name) => ask(Organization, routes.createOrganization, { body: { name } }),
    renameOrganization: (organizationId, name) =>
      ask(Organization, routes.renameOrganization, { params: { organizationId }, body: { name } }),
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
    removeMember: (organizationId, email, force) =>
      ask(z.undefined(), routes.removeOrganizationMember, {
        params: { organizationId, email },
        query: force ? { force: 'true' } : {},
      }),
    organizationTeams: (organizationId) => list(Team, routes.listOrganizationTeams, { organizationId }),

    async events(organizationId, most) {
      const events: ShownEvent[] = [];
      let cursor: string | undefined;
      for (;;) {
        const limit = String(Math.min(mostOfPage, most - events.length));
        const { data, headers } = await askPatiently(z.array(ShownEvent), routes.listOrganizationEvents, {
          params: { organizationId },
          query: { limit, ...(cursor !== undefined && { cursor }) },
        });
        events.push(...data);
        cursor = nextCursor(headers.get('link'));
        if (cursor === undefined || events.length >= most) return { events, more: cursor !== undefined };
      }
    },

    ...teamCalls(calls),
  };
}

/** Reads `<…?cursor=…>; rel="next"`. Only the cursor is needed, because the address is known. */
function nextCursor(link: string | null): string | undefined {
  const target = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? '')?.[1];
  if (target === undefined || !URL.canParse(target, 'http://localhost')) return undefined;
  return new URL(target, 'http://localhost').searchParams.get('cursor') ?? undefined;
}
