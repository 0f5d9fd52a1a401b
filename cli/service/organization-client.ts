/**
 * The client of the organization API: one method per operation of the route table. Each is safe to repeat when an answer is
 * lost.
 */
import * as z from 'zod';
import type { Route } from '../../shared/api.js';
import { Member, Organization, OrganizationEvent, type Role } from '../../shared/organization/organization.js';
import { organizationRoutes as routes } from '../../shared/organization/routes.js';
import { Detached, MigrationPreview, MigrationReply, Team } from '../../shared/organization/team.js';
import type { Transport } from './transport.js';

/** `added` is false if the person was already a member with that role. */
interface Added {
  readonly member: Member;
  readonly added: boolean;
}

/** `more`: older events exist. */
interface Events {
  readonly events: readonly ShownEvent[];
  readonly more: boolean;
}

/** Accepts actions that only a newer service records. */
const ShownEvent = OrganizationEvent.extend({ action: z.string() });
export type ShownEvent = z.infer<typeof ShownEvent>;

export interface OrganizationClient {
  organizations(): Promise<Organization[]>;
  createOrganization(name: string): Promise<Organization>;
  members(organizationId: string): Promise<Member[]>;
  addMember(organizationId: string, email: string, role: Role | undefined): Promise<Added>;
  setRole(organizationId: string, email: string, role: Role): Promise<Member>;
  removeMember(organizationId: string, email: string, force: boolean): Promise<void>;
  organizationTeams(organizationId: string): Promise<Team[]>;
  /** Newest first, at most `most` of them. */
  events(organizationId: string, most: number): Promise<Events>;
  teams(): Promise<Team[]>;
  createTeam(name: string, organizationId: string | undefined): Promise<Team>;
  teamMembers(teamId: number): Promise<Member[]>;
  addTeamMember(teamId: number, email: string, role: Role | undefined): Promise<Added>;
  removeTeamMember(teamId: number, email: string): Promise<void>;
  previewMigration(teamId: number, organizationId: string): Promise<{ preview: MigrationPreview; etag: string }>;
  /** Restores the members that the team had before it was migrated. */
  detach(teamId: number): Promise<Detached>;
  /** Migrates only if nothing has changed since the preview with that ETag. */
  migrate(teamId: number, organizationId: string, force: boolean, etag: string): Promise<MigrationReply>;
}

/** The API's own page limit. */
const mostOfPage = 200;

export function createOrganizationClient({ askPatiently }: Transport): OrganizationClient {
  const ask = async <T>(...call: Parameters<typeof askPatiently<T>>): Promise<T> => (await askPatiently(...call)).data;
  const list = <T>(item: z.ZodType<T>, route: Route, params: Readonly<Record<string, string>> = {}) =>
    ask(z.array(item), route, { params });
  const add = async (route: Route, params: Readonly<Record<string, string>>, email: string, role?: Role) => {
    const body = { email, ...(role !== undefined && { role }) };
    const { data: member, status } = await askPatiently(Member, route, { params, body });
    return { member, added: status === 201 };
  };

  return {
    organizations: () => list(Organization, routes.listOrganizations),
    createOrganization: (name) => ask(Organization, routes.createOrganization, { body: { name } }),
    members: (organizationId) => list(Member, routes.listOrganizationMembers, { organizationId }),
    addMember: (organizationId, email, role) => add(routes.addOrganizationMember, { organizationId }, email, role),
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

    teams: () => list(Team, routes.listTeams),
    createTeam: (name, organizationId) =>
      ask(Team, routes.createTeam, { body: { name, ...(organizationId !== undefined && { organizationId }) } }),
    teamMembers: (teamId) => list(Member, routes.listTeamMembers, { teamId: String(teamId) }),
    addTeamMember: (teamId, email, role) => add(routes.addTeamMember, { teamId: String(teamId) }, email, role),
    removeTeamMember: (teamId, email) =>
      ask(z.undefined(), routes.removeTeamMember, { params: { teamId: String(teamId), email } }),

    async previewMigration(teamId, organizationId) {
      const { data, headers } = await askPatiently(MigrationPreview, routes.previewMigration, {
        params: { teamId: String(teamId) },
        query: { organizationId },
      });
      return { preview: data, etag: headers.get('etag') ?? '*' };
    },
    detach: (teamId) => ask(Detached, routes.detachTeam, { params: { teamId: String(teamId) } }),
    migrate: (teamId, organizationId, force, etag) =>
      ask(MigrationReply, routes.migrateTeam, {
        params: { teamId: String(teamId) },
        headers: { 'if-match': etag },
        body: { organizationId, force },
      }),
  };
}

/** Reads `<…?cursor=…>; rel="next"`. Only the cursor is needed, because the address is known. */
function nextCursor(link: string | null): string | undefined {
  const target = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? '')?.[1];
  if (target === undefined || !URL.canParse(target, 'http://localhost')) return undefined;
  return new URL(target, 'http://localhost').searchParams.get('cursor') ?? undefined;
}
